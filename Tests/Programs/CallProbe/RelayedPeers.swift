import MediaBridgeJanus
import TestSupport

/// Peers whose traffic passes through a TURN server.
enum RelayedPeers {
    private static let enough = 10

    private static func connection(_ turn: String) -> PeerConnection.Configuration {
        var configuration = PeerConnection.Configuration()
        configuration.iceServers = [turn]
        configuration.isRelayOnly = true
        return configuration
    }

    private static func source() throws -> sending PipelineVideoSource {
        try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=10/1 ! "
                + "appsink name=video audiotestsrc is-live=true ! audioconvert ! appsink name=audio"
        )
    }

    /// Plays over WHEP, and prints `enough`.
    static func play(_ url: String, turn: String) async throws {
        let source = try PipelineVideoSource(whep: url, token: "tok", connection: connection(turn))
        var count = 0
        for try await _ in source.encodedFrames() {
            count += 1
            if count == enough { break }
        }
        writeLine("enough")
    }

    /// Sends over WHIP, until the sink fails.
    static func send(to url: String, turn: String) async throws {
        let engine = MediaEngine()
        let events = engine.events
        var configuration = WHIPSink.Configuration()
        configuration.connection = connection(turn)
        try await engine.setVideoSource(try source())
        try await engine.addVideoSink(
            try WHIPSink(url, token: "tok", configuration: configuration), to: .local())
        try await engine.startPreview()
        let error = await events.first { event in
            if case .sinkFailed(.video, let error) = event { error } else { nil }
        }
        await engine.shutDown()
        throw ProbeFailure("\(error.map { "\($0)" } ?? "over")")
    }

    /// Joins a room, and prints `sending`, and `enough` for the other user, until sending fails.
    static func join(
        as user: String, watching other: String, at server: String, turn: String
    ) async throws {
        var configuration = JanusTransport.Configuration()
        configuration.connection = connection(turn)
        let engine = MediaEngine(
            transport: try JanusTransport(server: server, configuration: configuration))
        let (count, events) = (Observed(0), engine.events)
        let source = try source()
        let audio = source.audio
        try await engine.setVideoSource(source)
        if let audio { try await engine.setAudioSource(audio) }
        try await engine.addVideoSink(PictureCounter(count), to: .remote(UserID(other)))
        try await engine.joinChannel("hall", userID: UserID(user))
        let watching = Task {
            await count.wait { $0 >= enough }
            writeLine("enough")
        }
        for await event in events {
            switch event {
            case .publicationChanged(_, .sending): writeLine("sending")
            case .publicationChanged(_, .failed(let error)):
                watching.cancel()
                await engine.shutDown()
                throw ProbeFailure("\(error)")
            default: break
            }
        }
    }
}
