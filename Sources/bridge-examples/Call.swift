import ArgumentParser
import Foundation
import MediaBridge
import MediaBridgeTesting

/// A call between two users. Each has a token for the channel, shows a film, and records what the
/// other one shows.
///
/// Both engines are in this process, so the channel is the loopback, and no pixels are copied
/// between them.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect two users in a channel, and record what each receives.",
        discussion: """
            Examples:
              bridge-examples call clip.mp4 anna.mkv otto.mkv
              bridge-examples call clip.mp4 anna.png otto.png
            """)

    @Argument(help: "Video file that both users send (e.g. clip.mp4).", completion: .file())
    var input: String

    @Argument(help: "File to write for what anna receives: .mkv, .yuv, .png or .jpg.")
    var outputA: String

    @Argument(help: "File to write for what otto receives: .mkv, .yuv, .png or .jpg.")
    var outputB: String

    func run() async throws {
        // Each user has a separate token.
        let tokens: [UserID: String] = ["anna": UUID().uuidString, "otto": UUID().uuidString]
        LoopbackNetwork.shared.setVerifier(
            { token, _, user throws(EngineError) in
                guard let token, token == tokens[user] else {
                    throw EngineError(.tokenForged, message: "\(user) has another token")
                }
                return nil  // valid until the user leaves
            }, forChannel: "call")

        let (anna, otto) = (
            try Caller("anna", sees: "otto", in: outputA),
            try Caller("otto", sees: "anna", in: outputB)
        )
        for caller in [anna, otto] {
            try await caller.join("call", token: tokens[caller.user], showing: input)
        }
        // Both have joined, so each sees the start of the other's film.
        for caller in [anna, otto] { try await caller.engine.setClientRole(.broadcaster) }
        async let isShown: Void = anna.showToTheEnd()
        try await otto.showToTheEnd()
        try await isShown
        for caller in [anna, otto] {
            try await caller.hangUp()
            let frames = caller.recording.statistics.frames
            print("\(caller.user) received \(frames) frames of \(caller.other)")
        }
    }
}

/// One of the two users.
private struct Caller: Sendable {
    let engine = MediaEngine(transport: LoopbackNetwork.shared)
    let watch: Watch
    /// Receives the events about the other user, while ``watch`` receives those about the film.
    private let line: Watch
    let user: UserID
    let other: UserID
    let recording: PipelineVideoSink

    init(_ user: UserID, sees other: UserID, in path: String) throws {
        self.user = user
        self.other = other
        recording = try Recording.sink(path)
        watch = Watch(engine)
        line = Watch(engine)
    }

    func join(_ channel: String, token: String?, showing film: String) async throws {
        let capture = "filesrc location=\(Recording.quoted(film)) ! decodebin ! videoconvert"
        try await engine.setVideoSource(PipelineVideoSource(capture))
        try await engine.addVideoSink(recording, to: .remote(other), options: .recording)
        try await engine.joinChannel(channel, token: token, userID: user, role: .audience)
    }

    func showToTheEnd() async throws {
        await watch.untilTheEnd()
        // The other user is notified of this after the last frame.
        try await engine.setClientRole(.audience)
    }

    /// Waits until the other user's film has ended, and shuts the engine down.
    ///
    /// - Throws: The first failure that the engine reported.
    func hangUp() async throws {
        await line.first { event in
            if case .unpublished(.video, _) = event { true } else { nil }
        }
        await engine.shutDown()
        try await watch.check()
    }
}
