import ArgumentParser
import MediaBridge
import MediaBridgeJanus

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Joins a channel of a Janus server: sends and receives.",
        discussion: """
            gst-bridge join room --server ws://janus.example.org:8188/janus --user anna \\
              --capture "v4l2src ! videoconvert" --record recordings
            gst-bridge join room --server ws://127.0.0.1:8188/janus --user ben --audience \\
              --output "videoconvert ! autovideosink"

            A channel is a room of the server's VideoRoom plugin, which must have string_ids = true. \
            Pictures that come as H.264 or VP8 are sent as they are; sound is sent where the capture has \
            a stream of the name audio (appsink name=audio). Without --capture nothing is sent.

            Each user is recorded into a file of its own, the pictures as they come, and shown by outputs \
            of its own: USER=STRING is for one user, a string alone for each, with ${name} for its name. \
            The sound goes to an appsrc of the name audio, where an output has one.
            """)

    @Argument(help: "The name of the room.")
    var channel: String

    @Option(
        help: ArgumentHelp("The server's WebSocket: ws:// or wss://.", valueName: "url"))
    var server: String

    @Option(help: ArgumentHelp("The name in the channel, unique there.", valueName: "name"))
    var user: String

    @Option(
        help: ArgumentHelp("The token that admits the user: gst-bridge token.", valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token, which other users of the machine cannot read in the list of processes.",
            valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(help: ArgumentHelp("Where pictures and sound come from.", valueName: "string"))
    var capture: String?

    @Flag(help: "Only receives.")
    var audience = false

    @Option(help: ArgumentHelp("h264 or vp8; by default what fits.", valueName: "codec"))
    var codec: ShareCommand.SharedCodec?

    @Option(help: ArgumentHelp("The most for pictures: 4M, 800k.", valueName: "bits/s"))
    var bitrate: SizeArgument?

    @Option(
        name: .customLong("output"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Shows users; may be repeated.", valueName: "[user=]string"))
    var outputs: [String] = []

    @Option(
        help: ArgumentHelp("Records each user into DIR/USER-DATE.mkv.", valueName: "dir"),
        completion: .directory)
    var record: String?

    @Flag(
        help: """
            Sends each line of standard input as a message to all. The lines /mute and /unmute pause and \
            continue what is sent, /leave leaves.
            """)
    var chat = false

    @OptionGroup var options: JoiningOptions

    func validate() throws {
        if audience, capture != nil {
            throw ValidationError("--audience and --capture exclude each other")
        }
        if token != nil, tokenFile != nil {
            throw ValidationError("--token and --token-file exclude each other")
        }
        if let bitrate, bitrate.value < 30_000 {
            throw ValidationError("--bitrate takes 30k at least")
        }
    }

    func run() async throws {
        if let record { try RecordingDirectory(path: record).create() }
        let outputs = self.outputs.map(Self.output)
        // A string that does not parse is told now, not when somebody sends.
        for output in outputs {
            _ = try PipelineVideoSink(Reception.text(output.text, name: "name"))
        }
        let source = try capture.map { try PipelineVideoSource($0) }
        let transport = try JanusTransport(
            server: server, configuration: options.configuration(bitRate: bitrate?.value))
        let engine = MediaEngine(transport: transport)
        let reception = Reception(
            engine, outputs: outputs, directory: record.map { RecordingDirectory(path: $0) },
            beginning: .sending)
        let participation = Participation(engine, reception, EndOfServing())
        let watching = participation.follow()
        let start = ContinuousClock.now
        var failure: (any Error)?
        var reason = EndOfServing.Reason.interrupt
        do {
            reason = try await Interruption.during {
                participation.end.note(.interrupt)
            } _: {
                try await join(engine, source)
                Terminal.say("in channel \(channel) as \(user)")
                let console = chat ? Console(participation) : nil
                let progress = ServingProgress(options.connection.progress) {
                    await participation.line()
                }
                let reason = await participation.end.wait(
                    atMost: options.connection.duration?.value)
                await progress.end()
                console?.end()
                return reason
            }
        } catch {
            failure = error
        }
        if case .failure(let error) = reason { failure = error }
        // The files are completed while the users are still there.
        await reception.endAll()
        let statistics = await engine.statistics
        await engine.shutDown()
        await watching.value
        let outcome = await reception.outcome
        var report = ServingReport(
            seconds: (.now - start) / .seconds(1), ended: failure == nil ? reason.name : "error")
        report.add(statistics)
        report.files = record == nil ? nil : outcome.files.map { ServingReport.File($0) }
        try report.print(options.connection.report, after: failure)
        if outcome.hasFailed { throw ExitCode(1) }
    }

    private static func output(_ text: String) -> Reception.Output {
        // The same rule as for the outputs of a run. A name made up for others is no name.
        let named = OutputArgument.parse(text, among: [])
        return Reception.Output(user: named.text == text ? nil : named.name, text: named.text)
    }

    private func join(_ engine: MediaEngine, _ source: PipelineVideoSource?) async throws {
        if let source {
            var encoder = VideoEncoderConfiguration()
            encoder.codec = codec.map { $0 == .h264 ? .h264 : .vp8 }
            encoder.bitRate = bitrate?.value
            try await engine.setVideoEncoderConfiguration(encoder)
            try await engine.setVideoSource(source)
            if let audio = source.audio { try await engine.setAudioSource(audio) }
        }
        try await engine.joinChannel(
            channel, token: tokenFile.map(SecretFile.read) ?? token, userID: UserID(user),
            role: source == nil ? .audience : .broadcaster)
    }
}
