import ArgumentParser
import BridgeCommands
import Foundation
import MediaBridge
import MediaBridgeHTTP

/// The options of the commands that serve browsers.
struct ServingOptions: ParsableArguments {
    /// The paragraph about access in the help of these commands.
    static let access = """
        Only this machine can reach the default address. An address that other machines can reach \
        requires a token. It is generated and printed in the URL, unless --token or --token-file sets it; \
        --open disables it. The page and the token are not encrypted: on untrusted networks, put a web \
        server with HTTPS in front.
        """

    /// The advice if the server cannot listen on the address.
    static let listenAdvice = "--listen with another address or port"

    @Option(
        help: ArgumentHelp(
            """
            Address to listen on: IPV4:PORT, [IPV6]:PORT, :PORT (all addresses) or unix:PATH. Port 0: any \
            free port.
            """,
            valueName: "address"))
    var listen = ListenAddress.standard

    @Option(
        help: ArgumentHelp(
            """
            Token that clients must present, 1 to 4096 characters without spaces. Default: a random token \
            if other machines can reach the address.
            """,
            valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "Read the token from <file>, which keeps it out of the process list.",
            valueName: "file"),
        completion: .file())
    var tokenFile: String?

    @Flag(help: "Require no token, even if other machines can reach the address.")
    var open = false

    @OptionGroup var hostNames: HostNames

    @Option(help: ArgumentHelp("Title of the page (e.g. Rehearsal).", valueName: "text"))
    var title = "gst-bridge"

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        guard [open, token != nil, tokenFile != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("--open, --token and --token-file cannot be combined")
        }
        if let token = try givenToken(), !BearerToken.isValid(token) {
            throw ValidationError(
                "--token must be 1 to \(BearerToken.maximumLength) printable ASCII characters without spaces"
            )
        }
    }

    private func givenToken() throws -> String? { try token ?? tokenFile.map(SecretFile.read) }

    /// The token in force; `nil` if none is needed.
    func effectiveToken() throws -> String? {
        if let token = try givenToken() { return token }
        return open || listen.isLocal ? nil : RandomToken.make()
    }

    /// Returns the settings of a server with this token.
    func configuration(token: String?) -> WebRTCServer.Configuration {
        var configuration = WebRTCServer.Configuration()
        configuration.token = token
        configuration.title = title
        configuration.allowedHosts = hostNames.all
        // A Unix socket is behind a web server, which checks the host names.
        if case .unix = listen { configuration.allowedHosts = ["*"] }
        configuration.connection.iceServers = connection.servers
        switch listen {
        // Without a network, the loopback is the only way to a browser. With one, a web server in front of the
        // loopback address may have clients on other machines.
        case _ where listen.isLocal:
            if LocalAddresses.list().isEmpty {
                configuration.connection.localAddresses = ["127.0.0.1"]
            }
        case .network(let address?, _) where address != "0.0.0.0":
            configuration.connection.localAddresses = [address]
        default: break
        }
        return configuration
    }

    /// Returns the URLs under which browsers find the page.
    func addresses(of listener: HTTPListener, token: String?) -> [String] {
        if case .unix = listen { return ["\(listen)"] }
        return listener.urls.map { $0 + (token.map { "#token=\($0)" } ?? "") }
    }
}

/// The host names under which browsers reach a server.
struct HostNames: ParsableArguments {
    @Option(
        name: .customLong("host-name"),
        help: ArgumentHelp(
            """
            Host name that browsers may use without a token (e.g. meet.example.org), in addition to this \
            machine's name. Repeatable.
            """,
            valueName: "name"))
    var names: [String] = []

    /// All names: the given ones, and this machine's own name, with and without `.local`.
    var all: [String] {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return names }
        let own = String(
            decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let first = own.split(separator: ".").first else { return names }
        return names + [own, "\(first)", "\(first).local"]
    }
}

/// The options of all commands that connect to peers.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("stun"),
        help: ArgumentHelp(
            """
            STUN server for connections through NAT (e.g. stun.example.org:3478). Default: none. Repeatable.
            """,
            valueName: "host:port"))
    var stunServers: [String] = []

    @Option(
        name: .customLong("turn"),
        help: ArgumentHelp(
            """
            TURN server, with percent-encoded user and password. Default: none. Repeatable. share and \
            receive send it to their clients, password included.
            """,
            valueName: "turn://user:password@host:port"))
    var turnServers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Stop after <duration> (e.g. 500ms, 10s, 2m, 1h). Default: no limit.",
            valueName: "duration"))
    var duration: DurationArgument?

    @Option(help: "Print a progress line on standard error; auto: only on a terminal.")
    var progress = ProgressMode.auto

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    func validate() throws {
        for server in stunServers + turnServers where server.utf8.contains(0x20) || server.isEmpty {
            throw ValidationError("--stun and --turn must be addresses without spaces")
        }
        for server in turnServers
        where !server.hasPrefix("turn://") && !server.hasPrefix("turns://") {
            throw ValidationError("--turn must be turn://USER:PASSWORD@HOST:PORT")
        }
    }

    /// The servers as URLs.
    var servers: [String] {
        stunServers.map { $0.hasPrefix("stun") ? $0 : "stun://\($0)" } + turnServers
    }
}

/// The options of the commands that send a capture.
struct SendingOptions: ParsableArguments {
    enum Codec: String, ExpressibleByArgument, CaseIterable {
        case h264, vp8
    }

    @Option(
        help: ArgumentHelp(
            "Codec for raw video. Default: the first one available.", valueName: "codec"))
    var codec: Codec?

    @Option(
        help: ArgumentHelp(
            """
            Maximum video bit rate in bits/s (e.g. 800k, 4M; at least 30k). Default: 0.1 bits per pixel, \
            at most 20M.
            """,
            valueName: "bits/s"))
    var bitrate: SizeArgument?

    @Option(help: EncoderArgument.help)
    var encoder: EncoderArgument?

    @Flag(
        help: """
            Restart a live capture that ends, fails or delivers nothing for 10 s. Attempts continue \
            without limit, 0.5 s to 30 s apart. Default: the command ends.
            """)
    var restart = false

    /// The configuration of the engine that sends.
    var engine: MediaEngine.Configuration {
        var engine = MediaEngine.Configuration()
        if restart { engine.restart = RestartPolicy() }
        return engine
    }

    /// Not named `validate`, so that the commands check their own options first.
    func check() throws {
        if let bitrate, bitrate.value < 30_000 {
            throw ValidationError("--bitrate must be at least 30k")
        }
    }

    /// Sets a capture as the source of an engine, with these options.
    func send(_ source: PipelineVideoSource, with engine: MediaEngine) async throws {
        var encoder = VideoEncoderConfiguration()
        encoder.codec = codec.map { VideoCodec(rawValue: $0.rawValue) }
        encoder.bitRate = bitrate?.value
        encoder.encoder = self.encoder?.choice ?? .automatic
        try await engine.setVideoEncoderConfiguration(encoder)
        try await engine.setVideoSource(source)
        if let audio = source.audio { try await engine.setAudioSource(audio) }
    }
}

// MARK: - Addresses and secrets

extension ListenAddress: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    public var defaultValueDescription: String { "\(self)" }
}

/// Tokens that are unguessable and valid in a URL.
enum RandomToken {
    private static let characters = Array(
        "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")

    /// 22 characters, 128 bits.
    static func make() -> String {
        String((0..<22).compactMap { _ in characters.randomElement() })
    }
}

/// A file with a secret.
enum SecretFile {
    /// Returns its text, without the white space around it.
    static func read(_ path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw PipelineError(.notFound, cannot: "read \(path)")
        }
        let data = try file.read(upToCount: 4097) ?? Data()
        guard data.count <= 4096 else {
            throw PipelineError(.badFile, message: "\(path) is longer than 4096 bytes")
        }
        let text = String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw PipelineError(.badFile, message: "\(path) is empty") }
        return text
    }
}
