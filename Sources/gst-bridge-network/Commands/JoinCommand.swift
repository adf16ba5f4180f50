import ArgumentParser
import BridgeCommands
import Foundation
import MediaBridge
import MediaBridgeJanus
import Synchronization

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

    @OptionGroup var sending: SendingOptions

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

    @Option(help: ArgumentHelp("PIN of the channel (e.g. 4711). Default: none.", valueName: "pin"))
    var pin: String?

    @Option(
        help: ArgumentHelp(
            "Create the channel if it does not exist, with the server's admin_key.",
            valueName: "key"))
    var adminKey: String?

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp(
            "PEM file of the CA certificates for the server. Default: the system's.",
            valueName: "file"),
        completion: .file())
    var caFile: String?

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if audience, capture != nil {
            throw ValidationError("--audience and --capture cannot be combined")
        }
        if token != nil, tokenFile != nil {
            throw ValidationError("--token and --token-file cannot be combined")
        }
        try sending.check()
    }

    func run() async throws {
        let directory = try record.map { try RecordingDirectory(creating: $0) }
        let outputs = self.outputs.map(Self.output)
        // Reports a string that does not parse now, before the first user sends.
        for output in outputs { try output.check() }
        let source = try capture.map { try PipelineVideoSource($0) }
        let transport = try JanusTransport(server: server, configuration: configuration)
        let engine = MediaEngine(configuration: sending.engine, transport: transport)
        let reception = Reception(engine, outputs: outputs, directory: directory, allSend: false)
        let participation = Participation(engine, restarts: sending.restart)
        let events = engine.events
        let watching = Task {
            for await event in events {
                participation.note(event)
                await reception.handle(event)
            }
        }
        let start = ContinuousClock.now
        var console: Task<Void, Never>?
        let reason = await participation.end.serve(connection) {
            try await join(engine, source)
            Terminal.log("joined channel \(channel) as \(user)")
            if chat { console = participation.handleConsoleCommands() }
        } line: {
            await participation.line()
        }
        console?.cancel()
        // The files are completed while the users are still in the channel.
        await reception.endAll()
        let statistics = await engine.statistics
        await engine.shutDown()
        await watching.value
        let outcome = await reception.outcome
        var report = BridgeReport(reason, since: start)
        report.add(statistics)
        try connection.report.print(
            report, files: record == nil ? nil : outcome.files, after: reason.failure)
        if outcome.hasFailed { throw ExitCode(1) }
    }

    private static func output(_ text: String) -> Reception.Output {
        // The same rule as for the outputs of a run. A generated name does not count as a name.
        let named = OutputArgument.parse(text, among: [])
        return Reception.Output(user: named.text == text ? nil : named.name, text: named.text)
    }

    private var configuration: JanusTransport.Configuration {
        var configuration = JanusTransport.Configuration()
        configuration.connection.iceServers = connection.servers
        configuration.connection.bitRate = sending.bitrate?.value
        configuration.caFile = caFile
        configuration.pin = pin
        configuration.roomCreation = adminKey.map { JanusTransport.RoomCreation(adminKey: $0) }
        return configuration
    }

    private func join(_ engine: MediaEngine, _ source: PipelineVideoSource?) async throws {
        if let source { try await sending.send(source, with: engine) }
        try await engine.joinChannel(
            channel, token: tokenFile.map(SecretFile.read) ?? token, userID: UserID(user),
            role: source == nil ? .audience : .broadcaster)
    }
}

// MARK: - Membership

/// One user's membership in a channel, as the command shows it.
private final class Participation: Sendable {
    let engine: MediaEngine
    let end: EndOfServing
    /// The users in the channel, and the rates of their frames.
    private let users = Mutex<[UserID: RateOfCount]>([:])
    private let isReconnecting = Atomic(false)
    private let ownRate = RateOfCount()

    init(_ engine: MediaEngine, restarts: Bool) {
        self.engine = engine
        end = EndOfServing(restarts: restarts)
    }

    func note(_ event: EngineEvent) {
        switch event {
        case .userJoined(let user): users.withLock { $0[user] = RateOfCount() }
        case .userOffline(let user, _): users.withLock { $0[user] = nil }
        case .reconnecting(attempt: 1, let error):
            isReconnecting.store(true, ordering: .relaxed)
            Terminal.log("reconnecting: \(error)")
        case .reconnected:
            isReconnecting.store(false, ordering: .relaxed)
            Terminal.log("reconnected")
        case .publicationChanged(_, .sending): Terminal.log("sending")
        case .publicationChanged(_, .paused): Terminal.log("sending is paused")
        case .firstFrame(.remote(let user, .main), let size):
            Terminal.log("\(user) sends video: \(size.width)x\(size.height)")
        case .firstAudio(.remote(let user), _): Terminal.log("\(user) sends audio")
        case .unpublished(.video(.main), let user):
            Terminal.log("\(user) no longer sends video")
        case .muted(let isMuted, .video(.main), let user):
            Terminal.log("\(user) has \(isMuted ? "muted" : "unmuted") the video")
        case .muted(let isMuted, .audio, let user):
            Terminal.log("\(user) has \(isMuted ? "muted" : "unmuted") the audio")
        case .messageReceived(let message, let user):
            for line in String(decoding: message.bytes, as: UTF8.self).split(
                omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            {
                Terminal.log("\(user): \(line)")
            }
        default: end.note(event)
        }
    }

    /// Returns the status line: the users in the channel, and the rates of received and sent
    /// frames.
    func line() async -> String {
        let statistics = await engine.statistics
        let users = users.withLock { $0.sorted { $0.key.name < $1.key.name } }
        let others = users.map { user, rate in
            let received = statistics.remote[user]?[.main]?.received ?? 0
            let now = rate.note(received)
            // No frames arrive from a user that is not shown or recorded here.
            return received == 0 ? "\(user)" : "\(user) \(Text.decimal(now, 1)) fps"
        }
        let sent = statistics.sent
        return "\(isReconnecting.load(ordering: .relaxed) ? "reconnecting  " : "")"
            + "\(users.count + 1) \(users.isEmpty ? "member" : "members")  "
            + "\(Text.decimal(ownRate.note(sent), 1)) fps sent  "
            + (others.isEmpty ? "no other members" : others.joined(separator: "  "))
    }
}

extension Participation {
    /// Takes the lines of standard input as messages and commands until the task is cancelled.
    func handleConsoleCommands() -> Task<Void, Never> {
        let (lines, line) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(256))
        // A background process cannot read the terminal: a process that tries is stopped, unless it
        // ignores the signal. Reading cannot be cancelled; the thread lives as long as the process.
        signal(SIGTTIN, SIG_IGN)
        Thread.detachNewThread {
            while let text = readLine() { line.yield(text) }
            line.finish()
        }
        return Task { for await line in lines { await obey(line) } }
    }

    private func obey(_ line: String) async {
        do {
            switch line {
            case "": break
            case "/mute", "/unmute":
                engine.muteLocalAudio(line == "/mute")
                engine.muteLocalVideo(line == "/mute")
            case "/leave": end.note(.interrupt)
            default: try await engine.sendMessage(ChannelMessage(Array(line.utf8)))
            }
        } catch {
            Terminal.log("\(error)")
        }
    }
}

extension BridgeReport {
    /// Adds the counts of a channel, sent and received. The frames of a user are its received video
    /// frames.
    fileprivate mutating func add(_ statistics: EngineStatistics) {
        for (user, tracks) in statistics.remote {
            captures[user.name] = StreamCounts(
                tracks[.main]?.balance ?? FrameBalance(),
                packets: statistics.channel?.fromPackets[user])
        }
        for (stream, remote) in statistics.removed.remote.latest where stream.track == .main {
            captures[stream.user.name, default: StreamCounts(FrameBalance())].frames +=
                remote.received
        }
        // After the end of the membership, for example by a kick, only the engine's own counts are
        // left.
        outputs["channel"] = StreamCounts(
            statistics.channel?.outgoing ?? statistics.outgoing,
            packets: statistics.channel?.outgoingPackets)
    }
}
