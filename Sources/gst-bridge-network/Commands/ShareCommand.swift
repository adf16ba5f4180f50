import ArgumentParser
import BridgeCommands
import MediaBridge
import MediaBridgeHTTP

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: NetworkCommand.share.abstract,
        usage: "gst-bridge share [--capture <string>] [<options>]",
        discussion: """
            Viewers open the page at /. WHEP players connect to /whep. The capture is encoded once for all \
            viewers, and only while there are viewers. Video that the capture delivers as H.264 or VP8 is \
            sent without re-encoding. Audio is sent if the capture has a stream named audio (appsink \
            name=audio).

            \(ServingOptions.access)

            Examples:
              gst-bridge share --capture "v4l2src ! videoconvert"
              gst-bridge share --listen :8080
            """)

    @Option(
        help: ArgumentHelp(
            """
            Capture: a gst-launch string (e.g. "v4l2src ! videoconvert"). Default: the camera, the screen or \
            a test pattern.
            """,
            valueName: "string"))
    var capture: String?

    @Option(
        help: ArgumentHelp(
            "Codec for raw video. Default: the first one available.", valueName: "codec"))
    var codec: SharedCodec?

    @Option(
        help: ArgumentHelp(
            """
            Maximum video bit rate in bits/s (e.g. 800k, 4M; at least 30k). Default: 0.1 bits per pixel, \
            at most 20M.
            """,
            valueName: "bits/s"))
    var bitrate: SizeArgument?

    @Option(help: ArgumentHelp("Maximum number of viewers at a time, 1 to 10000.", valueName: "n"))
    var viewers = 100

    @OptionGroup var options: ServingOptions

    enum SharedCodec: String, ExpressibleByArgument, CaseIterable {
        case h264, vp8
    }

    func validate() throws {
        guard (1...10_000).contains(viewers) else {
            throw ValidationError("--viewers must be from 1 to 10000")
        }
        if let bitrate, bitrate.value < 30_000 {
            throw ValidationError("--bitrate must be at least 30k")
        }
    }

    func run() async throws {
        let text = try capture ?? Self.found()
        let source = try PipelineVideoSource(text)
        let token = try options.effectiveToken()
        var settings = options.configuration(token: token)
        settings.takesSenders = false
        settings.maximumViewers = viewers
        settings.connection.bitRate = bitrate?.value
        let server = WebRTCServer(settings)
        let engine = MediaEngine(transport: server)
        let end = EndOfServing()
        let watching = watch(engine, end)
        let listener = HTTPListener(options.listen, advice: ServingOptions.listenAdvice) {
            await server.respond(to: $0, body: $1)
        }
        let start = ContinuousClock.now
        var outcome: Result<EngineStatistics, any Error>
        var reason = EndOfServing.Reason.interrupt
        do {
            reason = try await Interruption.during {
                end.note(.interrupt)
            } _: {
                try await listener.open()
                try await join(engine, source)
                for address in options.addresses(of: listener, token: token) {
                    Terminal.say("watch at \(address)")
                }
                let rate = RateOfCount()
                let progress = ServingProgress(options.connection.progress) {
                    await Self.line(engine, server, rate)
                }
                let reason = await end.wait(atMost: options.connection.duration?.value)
                await progress.end()
                return reason
            }
            outcome = .success(try await engine.leaveChannel())
        } catch {
            outcome = .failure(error)
        }
        await listener.close()
        await engine.shutDown()
        await watching.value
        if case .failure(let error) = reason { outcome = .failure(error) }
        try finish(outcome, reason, await engine.statistics, seconds: (.now - start) / .seconds(1))
    }

    private static func found() throws -> String {
        let found = try DefaultCapture.find()
        Terminal.say("capturing the \(found.about)")
        return found.text
    }

    private func join(_ engine: MediaEngine, _ source: PipelineVideoSource) async throws {
        var encoder = VideoEncoderConfiguration()
        encoder.codec = codec.map { VideoCodec(rawValue: $0.rawValue) }
        encoder.bitRate = bitrate?.value
        try await engine.setVideoEncoderConfiguration(encoder)
        try await engine.setVideoSource(source)
        if let audio = source.audio { try await engine.setAudioSource(audio) }
        try await engine.joinChannel("share", userID: "gst-bridge")
    }

    /// Follows the engine's events until it is shut down.
    private func watch(_ engine: MediaEngine, _ end: EndOfServing) -> Task<Void, Never> {
        let events = engine.events
        return Task {
            for await event in events {
                switch event {
                case .sourceEnded: end.note(.endOfStream)
                case .sourceFailed(_, let error), .disconnected(let error),
                    .publicationChanged(_, .failed(let error)):
                    end.note(.failure(error))
                case .sourceStalled(_, let time):
                    Terminal.say("the capture has delivered nothing for \(time)")
                case .audioSourceFailed(let error), .audioPublicationFailed(let error):
                    Terminal.say("continuing without audio: \(error)")
                case .warning(let text): Terminal.say("warning: \(text)")
                default: break
                }
            }
        }
    }

    private static func line(
        _ engine: MediaEngine, _ server: WebRTCServer, _ rate: RateOfCount
    ) async -> String {
        let statistics = await engine.statistics
        let track = statistics.local[.main]
        let viewers = server.viewers.count
        let rate = rate.note(track?.delivered ?? 0)
        return "\(viewers) \(viewers == 1 ? "viewer" : "viewers")  \(Text.decimal(rate, 1)) fps  "
            + (track?.bitRate.map { "\(Text.decimal(Double($0) / 1e6, 2)) Mbit/s  " } ?? "")
            + "\(statistics.sent) sent"
    }

    private func finish(
        _ outcome: Result<EngineStatistics, any Error>, _ reason: EndOfServing.Reason,
        _ last: EngineStatistics, seconds: Double
    ) throws {
        let statistics = (try? outcome.get()) ?? last
        let track = statistics.local[.main]
        var failure: (any Error)?
        if case .failure(let error) = outcome { failure = error }
        var report = ServingReport(
            seconds: seconds, ended: failure == nil ? reason.name : "error")
        report.captures = [
            "video": .init(frames: track?.delivered ?? 0, dropped: track?.dropped.total ?? 0)
        ]
        report.outputs = [
            "viewers": .init(statistics.channel?.outgoing.balance ?? statistics.outgoing)
        ]
        try report.print(options.connection.report, after: failure)
    }
}
