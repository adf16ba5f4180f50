import ArgumentParser
import BridgeCommands
import MediaBridge
import MediaBridgeHTTP

struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive", abstract: NetworkCommand.receive.abstract,
        usage: "gst-bridge receive [--record <dir>] [--output <string>] [<options>]",
        discussion: """
            Browsers send from the page at /. Encoders such as OBS send to /whip, or to /whip?name=NAME \
            to set a name. Each sender has a separate recording and separate outputs, and ${name} in an \
            output stands for the sender's name. Video is recorded without re-encoding. A new file starts \
            when a sender changes its video size. An output receives audio if it has an appsrc named \
            audio. The exit status is 1 if a recording or an output fails.

            \(ServingOptions.access) Browsers allow a camera only on HTTPS pages and on this machine.

            Examples:
              gst-bridge receive --record recordings
              gst-bridge receive --output "videoconvert ! autovideosink"
            """)

    @Option(
        name: .customLong("output"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Output for each sender: a gst-launch string (e.g. "videoconvert ! autovideosink"). \
            Repeatable.
            """,
            valueName: "string"))
    var outputs: [String] = []

    @Option(
        help: ArgumentHelp(
            "Record each sender to <dir>/NAME-DATE.mkv. Default: no recording.", valueName: "dir"),
        completion: .directory)
    var record: String?

    @Option(help: ArgumentHelp("Maximum number of senders at a time, 1 to 256.", valueName: "n"))
    var senders = 16

    @OptionGroup var options: ServingOptions

    func validate() throws {
        guard record != nil || !outputs.isEmpty else {
            throw ValidationError("Give --record, --output or both")
        }
        guard (1...256).contains(senders) else {
            throw ValidationError("--senders must be from 1 to 256")
        }
    }

    func run() async throws {
        let directory = try record.map { try RecordingDirectory(creating: $0) }
        let outputs = self.outputs.map { Reception.Output(text: $0) }
        // Reports a string that does not parse now, before the first sender connects.
        for output in outputs { try output.check() }
        let token = try options.effectiveToken()
        var settings = options.configuration(token: token)
        settings.takesViewers = false
        settings.maximumSenders = senders
        let server = WebRTCServer(configuration: settings)
        let engine = MediaEngine(transport: server)
        let reception = Reception(engine, outputs: outputs, directory: directory, allSend: true)
        let end = EndOfServing()
        let events = engine.events
        let watching = Task {
            for await event in events {
                end.note(event)
                await reception.handle(event)
            }
        }
        let listener = HTTPListener(
            options.listen, advice: ServingOptions.listenAdvice, refusal: server.refusal
        ) {
            await server.respond(to: $0, body: $1)
        }
        let (start, rate) = (ContinuousClock.now, RateOfCount())
        let reason = await end.serve(options.connection) {
            try await engine.joinChannel("receive", userID: "gst-bridge", role: .audience)
            try await listener.open()
            for address in options.addresses(of: listener, token: token) {
                Terminal.log("send from \(address)")
            }
        } line: {
            Self.line(server, rate)
        }
        await listener.close()
        let statistics = await engine.statistics
        // The files are completed while the senders are still connected.
        await reception.endAll()
        await engine.shutDown()
        await watching.value
        let outcome = await reception.outcome
        var report = BridgeReport(reason, since: start)
        let channel = statistics.channel
        report.captures = [
            "senders": .init(channel?.incoming ?? .init(), packets: channel?.incomingPackets)
        ]
        try options.connection.report.print(
            report, files: record == nil ? nil : outcome.files, after: reason.failure)
        if outcome.hasFailed { throw ExitCode(1) }
    }

    private static func line(_ server: WebRTCServer, _ rate: RateOfCount) -> String {
        let senders = server.senders.values
        let frames = senders.map(\.video.frames.delivered).reduce(0, +)
        let bytes = senders.map { $0.video.bytes + $0.audio.bytes }.reduce(0, +)
        return "\(senders.count) \(senders.count == 1 ? "sender" : "senders")  "
            + "\(Text.decimal(rate.note(frames), 1)) fps  \(Text.bytes(bytes))"
    }
}
