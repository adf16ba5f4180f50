import ArgumentParser
import BridgeCommands
import MediaBridge
import MediaBridgeJanus

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: NetworkCommand.join.abstract,
        usage: "gst-bridge join <channel> --server <url> --user <name> [<options>]",
        discussion: """
            A channel is a room of the server's VideoRoom plugin, which must have string_ids = true. Video \
            that the capture delivers as H.264 or VP8 is sent without re-encoding. Audio is sent if the \
            capture has a stream named audio (appsink name=audio).

            Each other member has a separate recording and separate outputs. The output USER=STRING is for \
            one member. An output without a user is for every member, and ${name} in it stands for the \
            member's name. Video is recorded without re-encoding. An output receives audio if it has an \
            appsrc named audio. The exit status is 1 if a recording or an output fails.

            Examples:
              gst-bridge join standup --server ws://127.0.0.1:8188 --user anna \\
                --capture "v4l2src ! videoconvert" --record recordings
              gst-bridge join standup --server ws://127.0.0.1:8188 --user ben \\
                --audience --output "videoconvert ! autovideosink"
            """)

    @Argument(help: "Name of the channel (e.g. standup).")
    var channel: String

    @Option(
        help: ArgumentHelp(
            "WebSocket URL of the server, ws:// or wss:// (e.g. wss://media.example/janus).",
            valueName: "url"))
    var server: String

    @Option(
        help: ArgumentHelp(
            "User ID in the channel (e.g. anna). It must be unique there.", valueName: "name"))
    var user: String

    @Option(
        help: ArgumentHelp(
            "Token for the channel, as printed by 'gst-bridge token'. Default: none.",
            valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "Read the token from <file>, which keeps it out of the process list.",
            valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            """
            Capture: a gst-launch string (e.g. "v4l2src ! videoconvert"). Default: send nothing.
            """,
            valueName: "string"))
    var capture: String?

    @Flag(help: "Receive only; cannot be combined with --capture.")
    var audience = false

    @Option(
        help: ArgumentHelp(
            "Codec for raw video. Default: the first one available.", valueName: "codec"))
    var codec: ShareCommand.SharedCodec?

    @Option(
        help: ArgumentHelp(
            """
            Maximum video bit rate in bits/s (e.g. 800k, 4M; at least 30k). Default: 0.1 bits per pixel, \
            at most 20M.
            """,
            valueName: "bits/s"))
    var bitrate: SizeArgument?

    @Option(
        name: .customLong("output"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Output for each member, or for <user> only: a gst-launch string \
            (e.g. "videoconvert ! autovideosink"). Repeatable.
            """,
            valueName: "[user=]string"))
    var outputs: [String] = []

    @Option(
        help: ArgumentHelp(
            "Record each member to <dir>/NAME-DATE.mkv. Default: no recording.", valueName: "dir"),
        completion: .directory)
    var record: String?

    @Flag(
        help: """
            Send each line of standard input to all members as a message. The lines /mute and /unmute \
            pause and resume sending; /leave leaves the channel.
            """)
    var chat = false

    @OptionGroup var options: JoiningOptions

    func validate() throws {
        if audience, capture != nil {
            throw ValidationError("--audience and --capture cannot be combined")
        }
        if token != nil, tokenFile != nil {
            throw ValidationError("--token and --token-file cannot be combined")
        }
        if let bitrate, bitrate.value < 30_000 {
            throw ValidationError("--bitrate must be at least 30k")
        }
    }

    func run() async throws {
        if let record { try RecordingDirectory(path: record).create() }
        let outputs = self.outputs.map(Self.output)
        // Reports a string that does not parse now, before the first user sends.
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
                Terminal.say("joined channel \(channel) as \(user)")
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
        // The files are completed while the users are still in the channel.
        await reception.endAll()
        let statistics = await engine.statistics
        await engine.shutDown()
        await watching.value
        let outcome = await reception.outcome
        var report = ServingReport(
            seconds: (.now - start) / .seconds(1), ended: failure == nil ? reason.name : "error")
        report.add(statistics)
        report.files = record == nil ? nil : outcome.files.map { ReportedFile($0) }
        try report.print(options.connection.report, after: failure)
        if outcome.hasFailed { throw ExitCode(1) }
    }

    private static func output(_ text: String) -> Reception.Output {
        // The same rule as for the outputs of a run. A generated name does not count as a name.
        let named = OutputArgument.parse(text, among: [])
        return Reception.Output(user: named.text == text ? nil : named.name, text: named.text)
    }

    private func join(_ engine: MediaEngine, _ source: PipelineVideoSource?) async throws {
        if let source {
            var encoder = VideoEncoderConfiguration()
            encoder.codec = codec.map { VideoCodec(rawValue: $0.rawValue) }
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
