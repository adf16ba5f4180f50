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

            Press s on the page, or add ?stats to its address, to show the picture size, frame rate, bit rate, \
            packet loss and the latency from capture to display.

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

    @OptionGroup var sending: SendingOptions

    @Option(help: ArgumentHelp("Maximum number of viewers at a time, 1 to 10000.", valueName: "n"))
    var viewers = 100

    @OptionGroup var options: ServingOptions

    func validate() throws {
        guard (1...10_000).contains(viewers) else {
            throw ValidationError("--viewers must be from 1 to 10000")
        }
        try sending.check()
    }

    func run() async throws {
        let text = try capture ?? DefaultCapture.announced()
        let source = try PipelineVideoSource(text)
        let token = try options.effectiveToken()
        var settings = options.configuration(token: token)
        settings.takesSenders = false
        settings.maximumViewers = viewers
        settings.connection.bitRate = sending.bitrate?.value
        let server = WebRTCServer(configuration: settings)
        let engine = MediaEngine(configuration: sending.engine, transport: server)
        let end = EndOfServing(restarts: sending.restart)
        let events = engine.events
        let watching = Task { for await event in events { end.note(event) } }
        let listener = HTTPListener(
            options.listen, advice: ServingOptions.listenAdvice, refusal: server.refusal
        ) {
            await server.respond(to: $0, body: $1)
        }
        let (start, rate) = (ContinuousClock.now, RateOfCount())
        var reason = await end.serve(options.connection) {
            try await listener.open()
            try await sending.send(source, with: engine)
            try await engine.joinChannel("share", userID: "gst-bridge")
            for address in options.addresses(of: listener, token: token) {
                Terminal.log("watch at \(address)")
            }
        } line: {
            await Self.line(engine, server, rate)
        }
        var statistics: EngineStatistics?
        do {
            let final = try await engine.leaveChannel()
            if reason.failure == nil { statistics = final }
        } catch {
            if reason.failure == nil { reason = (.error, error) }
        }
        await listener.close()
        await engine.shutDown()
        await watching.value
        let last = if let statistics { statistics } else { await engine.statistics }
        let track = last.local[.main]
        var report = BridgeReport(reason, since: start)
        report.captures = ["video": .init(track?.balance ?? FrameBalance())]
        report.outputs = [
            "viewers": .init(
                last.channel?.outgoing ?? last.outgoing, packets: last.channel?.outgoingPackets)
        ]
        try options.connection.report.print(report, after: reason.failure)
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
}
