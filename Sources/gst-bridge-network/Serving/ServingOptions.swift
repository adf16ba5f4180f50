import ArgumentParser
import BridgeCommands
import Glibc
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
            Token that clients must present, 1 to 256 characters without spaces. Default: a random token \
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
        if let token = try token ?? tokenFile.map(SecretFile.read) {
            guard (1...256).contains(token.utf8.count),
                token.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else {
                throw ValidationError(
                    "--token must be 1 to 256 printable ASCII characters without spaces")
            }
        }
    }

    /// The token in force; `nil` if none is needed.
    func effectiveToken() throws -> String? {
        if let token = try token ?? tokenFile.map(SecretFile.read) { return token }
        return open || listen.isLocal ? nil : RandomToken.make()
    }

    /// Returns the settings of a server with this token.
    func configuration(token: String?) -> WebRTCServer.Configuration {
        var configuration = WebRTCServer.Configuration()
        configuration.token = token
        configuration.title = title
        // A Unix socket is behind a web server, which checks the host names.
        if case .unix = listen {
            configuration.allowedHosts = ["*"]
        } else {
            configuration.allowedHosts = hostNames.all
        }
        configuration.connection.servers = connection.servers
        // Without a network, the loopback is the only way to a browser.
        if listen.isLocal, LocalAddresses.list().isEmpty {
            configuration.connection.localAddresses = ["127.0.0.1"]
        }
        return configuration
    }

    /// Returns the URLs under which browsers find the page.
    func addresses(of listener: HTTPListener, token: String?) -> [String] {
        if case .unix = listen { return ["\(listen)"] }
        return listener.urls.map { $0 + (token.map { "#token=\($0)" } ?? "") }
    }
}

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
        var generator = SystemRandomNumberGenerator()
        return String((0..<22).compactMap { _ in characters.randomElement(using: &generator) })
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
