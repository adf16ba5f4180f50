import ArgumentParser
import BridgeCommands
import Foundation
import HTTPTypes
import MediaBridge
import MediaBridgeHTTP
import MediaBridgeJanus

struct HostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host", abstract: NetworkCommand.host.abstract,
        usage: "gst-bridge host <channels> ... [<options>]",
        discussion: """
            Members join with 'gst-bridge join' or in a browser. The commands and URLs are printed. The \
            server is Debian's package janus with its own settings. It is restarted if it crashes, and \
            stops with this command.

            Only this machine can reach the default address. At an address that other machines can reach, \
            each channel requires a token, which is printed; --open disables tokens. Without tokens, \
            browsers are admitted only from the server's own page, under an IP address, localhost, this machine's name \
            or a --host-name.

            Pages, tokens and signalling are not encrypted. On untrusted networks, put a web server with \
            HTTPS in front of the page's address, which also accepts the WebSocket. Media is always \
            encrypted. It needs a network address, because Janus does not use loopback.

            Examples:
              gst-bridge host standup
              gst-bridge host standup lecture --listen :8080
            """)

    @Argument(
        help: "Names of the channels, 1 to 64 letters, digits, - and _ each (e.g. standup).")
    var channels: [String]

    @Option(
        help: ArgumentHelp(
            """
            Address to listen on: IPV4:PORT, [IPV6]:PORT or :PORT (all addresses). Port 0: any free port.
            """,
            valueName: "address"))
    var listen = ListenAddress.standard

    @Option(
        help: ArgumentHelp(
            "Port of the WebSocket for programs, at the same address, 1 to 65535.", valueName: "n"))
    var port: UInt16 = 8188

    @Flag(help: "Require no token, even if other machines can reach the address.")
    var open = false

    @OptionGroup var hostNames: HostNames

    @Option(
        help: ArgumentHelp(
            """
            Read the token secret from <file>; surrounding white space is ignored. Tokens are then required \
            at any address. Default: a random secret if tokens are required.
            """,
            valueName: "file"),
        completion: .file())
    var secretFile: String?

    @Option(
        help: ArgumentHelp(
            "Lifetime of the printed tokens (e.g. 30m, 8h). Default: 24h.", valueName: "duration"))
    var validFor: DurationArgument?

    @Option(
        name: .customLong("stun"),
        help: ArgumentHelp(
            "STUN server for connections through NAT (e.g. stun.example.org:3478). Default: none.",
            valueName: "host:port"))
    var stunServer: String?

    @Option(
        help: ArgumentHelp(
            "Stop after <duration> (e.g. 500ms, 10s, 2m, 1h). Default: no limit.",
            valueName: "duration"))
    var duration: DurationArgument?

    func validate() throws {
        for name in channels {
            guard name.consistsOfASCIILettersDigits(and: "-_"), (1...64).contains(name.utf8.count)
            else {
                throw ValidationError("A channel name has 1 to 64 letters, digits, - and _")
            }
        }
        guard Set(channels).count == channels.count else {
            throw ValidationError("Channel names must be different")
        }
        if case .unix = listen {
            throw ValidationError("--listen must be a network address, not unix:PATH")
        }
        if port == 0 { throw ValidationError("--port must be from 1 to 65535") }
        if open, secretFile != nil {
            throw ValidationError("--open and --secret-file cannot be combined")
        }
        if stunServer != nil, stunAddress == nil {
            throw ValidationError("--stun must be HOST:PORT")
        }
    }

    private var stunAddress: (host: String, port: UInt16)? {
        let parts = (stunServer ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty,
            let port = parts.count == 1 ? 3478 : UInt16(parts[1])
        else { return nil }
        return (String(parts[0]), port)
    }

    func run() async throws {
        let secret =
            try secretFile.map(SecretFile.read)
            ?? (open || listen.isLocal ? nil : RandomToken.make())
        let settings = JanusSettings(channels: channels, secret: secret, stunServer: stunAddress)
        let janus = JanusProgram(settings)
        let rules = AccessRules(needsToken: secret != nil, allowedHosts: hostNames.all)
        let relay = WebSocketRelay(to: settings.socket, rules)
        let channelPages = ChannelPages(channels: channels, rules: rules)
        let pages = HTTPListener(
            listen, advice: ServingOptions.listenAdvice, relay: relay,
            refusal: channelPages.answer
        ) { request, _ in channelPages.answer(request) }
        let noPages = ChannelPages(channels: [], rules: rules)
        let signalling = HTTPListener(
            listen.with(port: port), advice: "--port with another port", relay: relay,
            refusal: noPages.answer
        ) { request, _ in noPages.answer(request) }
        let end = EndOfServing()
        try await Interruption.during {
            end.note(.interrupt)
        } _: {
            do {
                try await janus.start { event in
                    switch event {
                    case .restarted:
                        Terminal.log("the Janus server ended unexpectedly; it is running again")
                    case .notRestarted(let error, let delay):
                        let seconds = Text.decimal(MediaTime(delay).seconds, 1)
                        Terminal.log(
                            "the Janus server has ended and does not start again; next attempt in \(seconds) s. "
                                + "\(error)")
                    }
                }
                try await signalling.open()
                try await pages.open()
                try notify(secret, pages.urls)
                _ = await end.wait(atMost: duration?.value)
            } catch {
                await close(pages, signalling, janus)
                throw error
            }
        }
        await close(pages, signalling, janus)
    }

    private func close(_ pages: HTTPListener, _ signalling: HTTPListener, _ janus: JanusProgram)
        async
    {
        await pages.close()
        await signalling.close()
        await janus.end()
    }

    private func notify(_ secret: String?, _ pages: [String]) throws {
        for channel in channels {
            let token = try secret.map {
                try JanusTokens(secret: $0).token(
                    forChannel: channel, validFor: lifetime)
            }
            let admission = token.map { " --token '\($0)'" } ?? ""
            let fragment = token.map { "#token=\($0.escapedForFragment)" } ?? ""
            Terminal.log(
                "gst-bridge join \(channel) --server ws://\(listen.hosts[0]):\(port) --user NAME\(admission)"
            )
            for page in pages {
                Terminal.log("browsers join at \(page)\(channel)\(fragment)")
            }
        }
        if secret != nil { reportMoreTokens() }
    }

    /// Prints the commands that make more tokens. They need the secret in a file.
    private func reportMoreTokens() {
        let token = "gst-bridge token \(channels[0]) --secret-file"
        if let secretFile {
            return Terminal.log("for more tokens: \(token) \(secretFile.quotedForShell)")
        }
        let expiry = Date(timeIntervalSinceNow: Double(lifetime.components.seconds))
        let file = "janus-secret"
        let arguments = CommandLine.arguments.dropFirst().map(\.quotedForShell)
        Terminal.log(
            "these tokens expire at \(expiry.formatted(.iso8601)); to make more, keep a secret in a file:"
        )
        Terminal.log("  (umask 077; head -c 24 /dev/urandom | base64 > \(file))")
        Terminal.log("  gst-bridge \(arguments.joined(separator: " ")) --secret-file \(file)")
        Terminal.log("  \(token) \(file)")
    }

    /// How long the printed tokens are valid.
    private var lifetime: Duration { validFor?.value ?? .seconds(86_400) }
}

/// The pages on which browsers join the channels. The WebSocket at any of their addresses leads to
/// Janus.
private struct ChannelPages: Sendable {
    private let channels: [String]
    private let rules: AccessRules
    /// The page of each channel.
    private let pages: [String: [UInt8]]

    init(channels: [String], rules: AccessRules) {
        self.channels = channels
        self.rules = rules
        pages = Dictionary(
            channels.map { channel in
                (
                    channel,
                    Page.filled(
                        PackageResources.channel_html, title: channel, asksForServers: false)
                )
            }, uniquingKeysWith: { $1 })
    }

    @Sendable func answer(_ request: HTTPRequest) -> (HTTPResponse, [UInt8]) {
        do throws(RequestRefusal) { return try page(for: request) } catch {
            return error.response
        }
    }

    private func page(
        for request: HTTPRequest
    ) throws(RequestRefusal) -> (HTTPResponse, [UInt8]) {
        try rules.checkOrigin(of: request)
        guard request.method == .get || request.method == .head else {
            throw RequestRefusal(
                .methodNotAllowed, "method not allowed; use: GET, HEAD", [.allow: "GET, HEAD"])
        }
        let path = request.path?.prefix { $0 != "?" && $0 != "#" }.dropFirst() ?? ""
        if path.isEmpty, channels.count == 1 {
            return (HTTPResponse(status: .found, headerFields: [.location: "/\(channels[0])"]), [])
        }
        guard let page = pages[String(path)] else {
            throw RequestRefusal(.notFound, "channel not found")
        }
        return (HTTPResponse(status: .ok, headerFields: Page.fields), page)
    }
}

extension String {
    fileprivate func consistsOfASCIILettersDigits(and others: String) -> Bool {
        allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || others.contains($0) }
    }

    /// The string as one word of a shell command.
    fileprivate var quotedForShell: String {
        let isPlain = consistsOfASCIILettersDigits(and: "+,-./:_=")
        return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
    }

    /// The string as the value of a parameter in the fragment of a URL.
    fileprivate var escapedForFragment: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self
    }
}
