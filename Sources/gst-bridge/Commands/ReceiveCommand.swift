import ArgumentParser
import MediaBridge
import MediaBridgeWebRTC

struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Takes pictures and sound from browsers and encoders, by WHIP.",
        discussion: """
            gst-bridge receive --record recordings
            gst-bridge receive --output "videoconvert ! autovideosink"

            The page is at /, and encoders (OBS) use /whip, with ?name=NAME to have a name. Each sender is \
            recorded into a file of its own, the pictures as they come, and shown by outputs of its own; \
            ${name} in an output stands for its name. A sender that changes the size of its pictures \
            begins a new file. The sound goes to an appsrc of the name audio, where an output has one.

            Only this machine reaches the default address. For any other one a token is made up, which \
            stands in the address that is printed; --token chooses it, and --open does without. Browsers \
            give their cameras only to pages of https, or of this machine: for others put a web server with \
            https in front.
            """)

    @Option(
        name: .customLong("output"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Shows each sender; may be repeated.", valueName: "string"))
    var outputs: [String] = []

    @Option(
        help: ArgumentHelp("Records each sender into DIR/NAME-DATE.mkv.", valueName: "dir"),
        completion: .directory)
    var record: String?

    @Option(help: ArgumentHelp("The most senders at a time.", valueName: "n"))
    var senders = 16

    @OptionGroup var options: ServingOptions

    func validate() throws {
        guard record != nil || !outputs.isEmpty else {
            throw ValidationError("--record or --output is needed")
        }
        guard (1...256).contains(senders) else {
            throw ValidationError("--senders takes a number from 1 to 256")
        }
    }

    func run() async throws {
        if let record { try RecordingDirectory(path: record).create() }
        // A string that does not parse is told now, not when somebody sends.
        for output in outputs { _ = try PipelineVideoSink(Reception.text(output, name: "name")) }
        let token = try options.effectiveToken()
        var settings = options.configuration(token: token)
        settings.takesViewers = false
        settings.maximumSenders = senders
        let server = WebRTCServer(settings)
        let engine = MediaEngine(transport: server)
        let reception = Reception(
            engine, outputs: outputs.map { Reception.Output(text: $0) },
            directory: record.map { RecordingDirectory(path: $0) })
        let end = EndOfServing()
        let events = engine.events
        let watching = Task { await reception.follow(events, end) }
        let door = HTTPDoor(options.listen) { await server.respond(to: $0, body: $1) }
        let start = ContinuousClock.now
        var failure: (any Error)?
        var reason = EndOfServing.Reason.interrupt
        do {
            reason = try await Interruption.during {
                end.note(.interrupt)
            } _: {
                try await engine.joinChannel("receive", userID: "gst-bridge", role: .audience)
                let port = try await door.open()
                for address in options.addresses(port: port, token: token) {
                    Terminal.say("send from \(address)")
                }
                let rate = RateOfCount()
                let progress = ServingProgress(options.connection.progress) {
                    Self.line(server, rate)
                }
                let reason = await end.wait(atMost: options.connection.duration?.value)
                await progress.end()
                return reason
            }
        } catch {
            failure = error
        }
        if case .failure(let error) = reason { failure = error }
        await door.close()
        let statistics = await engine.statistics
        // The files are completed while the senders are still there.
        await reception.endAll()
        await engine.shutDown()
        await watching.value
        let outcome = await reception.outcome
        var report = ServingReport(
            seconds: (.now - start) / .seconds(1), ended: failure == nil ? reason.name : "error")
        report.captures = ["senders": .init(statistics.channel?.incoming.balance ?? .init())]
        report.files = record == nil ? nil : outcome.files.map { ServingReport.File($0) }
        try report.print(options.connection.report, after: failure)
        if outcome.hasFailed { throw ExitCode(1) }
    }

    private static func line(_ server: WebRTCServer, _ rate: RateOfCount) -> String {
        let senders = server.senders.values
        let frames = senders.map(\.video.units.delivered).reduce(0, +)
        let bytes = senders.map { $0.video.bytes + $0.audio.bytes }.reduce(0, +)
        return "\(senders.count) \(senders.count == 1 ? "sender" : "senders")  "
            + "\(Text.decimal(rate.note(frames), 1)) fps  \(Text.bytes(bytes))"
    }
}
