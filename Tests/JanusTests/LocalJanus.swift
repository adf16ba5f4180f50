import Foundation
import MediaBridgeJanus
import Synchronization
import TestSupport

/// A Janus server of a test's own on 127.0.0.1, with the VideoRoom plugin and WebSockets alone.
///
/// The room `hall` exists from the beginning, with room for two who send and the secret `room-secret`.
final class LocalJanus: Sendable {
    /// What differs between tests.
    struct Options: Sendable {
        /// The secret of signed tokens; `nil` for a server that takes everybody.
        var tokenSecret: String?
        var pin: String?
        var stringIDs = true
        /// Seconds after which a session without a connection is over.
        var sessionTimeout = 60
        /// The certificate and its key; `nil` for a server without TLS.
        var tls: (certificate: String, key: String)?

        init() {}
    }
    static let adminKey = "admin-key"
    static let roomSecret = "room-secret"

    let port: Int
    private let directory: TemporaryDirectory
    private let process: Mutex<ChildProcess?> = Mutex(nil)
    private let scheme: String

    var address: String { "\(scheme)://127.0.0.1:\(port)/janus" }

    private init(_ options: Options, in directory: TemporaryDirectory) throws {
        port = try FreePort.tcp()
        scheme = options.tls == nil ? "ws" : "wss"
        self.directory = directory
        try write(options)
    }

    /// Runs `body` beside a server, and ends the server afterwards, whatever happened.
    static func run<R>(
        _ options: Options = Options(), _ body: (LocalJanus) async throws -> R
    ) async throws -> R {
        try await withTemporaryDirectory { directory in
            let server = try LocalJanus(options, in: directory)
            defer { server.kill() }
            try await server.start()
            return try await body(server)
        }
    }

    /// Starts it, again if it was killed; returns when it can be reached.
    func start() async throws {
        let child = try ChildProcess("janus", ["-F", directory.path, "--disable-colors"])
        process.withLock { $0 = child }
        try await child.waitForOutput("WebSockets thread started")
    }

    /// Kills it.
    func kill() { send(signal: SIGKILL) }

    /// Kills it, and returns when it is gone.
    func killAndWait() async throws {
        let child = process.withLock { $0 }
        child?.send(signal: SIGKILL)
        _ = try await child?.end()
    }

    func send(signal: Int32) { process.withLock { $0 }?.send(signal: signal) }

    private func write(_ options: Options) throws {
        let libraries = "/usr/lib/x86_64-linux-gnu/janus"
        let plugins = [
            "audiobridge", "duktape", "echotest", "lua", "nosip", "recordplay", "sip", "streaming",
            "textroom", "videocall", "voicemail",
        ]
        let transports = ["http", "mqtt", "nanomsg", "pfunix", "rabbitmq"]
        let disabled: ([String]) -> String = { names in
            names.map { "libjanus_\($0).so" }.joined(separator: ",")
        }
        let tokens =
            options.tokenSecret.map { "token_auth = true\n token_auth_secret = \"\($0)\"" } ?? ""
        _ = try directory.write(
            """
            general: {
              configs_folder = "\(directory.path)"
              plugins_folder = "\(libraries)/plugins"
              transports_folder = "\(libraries)/transports"
              events_folder = "\(directory.path)/none"
              loggers_folder = "\(directory.path)/none"
              debug_level = 4
              debug_colors = false
              session_timeout = \(options.sessionTimeout)
              \(tokens)
            }
            media: { rtp_port_range = "20000-20200" }
            plugins: { disable = "\(disabled(plugins))" }
            transports: { disable = "\(disabled(transports))" }
            """, to: "janus.jcfg")
        let listening =
            options.tls == nil
            ? "ws = true ws_port = \(port) ws_ip = \"127.0.0.1\" wss = false"
            : "ws = false wss = true wss_port = \(port) wss_ip = \"127.0.0.1\""
        let certificates =
            options.tls.map {
                "certificates: { cert_pem = \"\($0.certificate)\" cert_key = \"\($0.key)\" }"
            } ?? ""
        _ = try directory.write(
            """
            general: { json = "compact" \(listening) }
            admin: { admin_ws = false }
            \(certificates)
            """, to: "janus.transport.websockets.jcfg")
        let pin = options.pin.map { "pin = \"\($0)\"" } ?? ""
        let signed = options.tokenSecret == nil ? "" : "signed_tokens = true"
        let room = options.stringIDs ? "room-hall" : "room-1234"
        _ = try directory.write(
            """
            general: { admin_key = "\(Self.adminKey)" string_ids = \(options.stringIDs) }
            \(room): {
              publishers = 2
              notify_joining = true
              secret = "\(Self.roomSecret)"
              videocodec = "h264,vp8"
              \(pin)
              \(signed)
            }
            """, to: "janus.plugin.videoroom.jcfg")
    }
}
