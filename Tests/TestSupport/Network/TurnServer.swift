import Foundation

/// A TURN server on a test's network, with user credentials derived from a secret: Debian's package
/// coturn. It ends with its network.
public struct TurnServer: Sendable {
    public let process: ChildProcess
    /// For UDP and TCP.
    public let port: Int
    /// The IPv4 address of the server.
    public let host: String
    /// The key of the `credential` for a `username` (HMAC-SHA1, base64).
    public let secret: String

    /// Starts the server, and waits until it listens.
    ///
    /// - Parameter directory: The directory for the server's files.
    public init(
        on machine: NetworkNamespace, in directory: TemporaryDirectory, port: Int = 3478,
        secret: String = "turn secret"
    ) async throws {
        (self.port, self.secret, host) = (port, secret, machine.address)
        process = try machine.start(
            "turnserver",
            [
                "-n", "--use-auth-secret", "--static-auth-secret=\(secret)", "--realm=test",
                "--listening-ip=\(machine.address)", "--relay-ip=\(machine.address)",
                "--listening-port=\(port)", "--min-port=30000", "--max-port=30200", "--no-tls",
                "--no-dtls", "--no-cli", "--log-file=stdout", "--simple-log",
                "--pidfile=\(directory.file("turn.pid"))", "--userdb=\(directory.file("turn.db"))",
                "--relay-threads=1", "--verbose",
            ])
        // The last line of the startup log: all threads listen.
        try await process.waitForOutput("IO method (admin thread)")
    }

    /// `turn:10.77.0.1:3478?transport=udp`
    public func url(transport: String = "udp") -> String {
        "turn:\(host):\(port)?transport=\(transport)"
    }
}

extension TurnServer {
    /// The credentials of a client: a name that is valid for one hour, and its password.
    public func user(named name: String) async throws -> (name: String, credential: String) {
        let user = "\(Int(Date().timeIntervalSince1970) + 3600):\(name)"
        return (user, try await Signature.make(of: user, secret: secret))
    }

    /// The server address in GStreamer's form: `turn://USER:PASSWORD@HOST:PORT?transport=udp`.
    ///
    /// - Parameter isGood: False for a wrong password.
    public func address(
        for name: String, transport: String = "udp", isGood: Bool = true
    ) async throws -> String {
        let (user, credential) = try await self.user(named: name)
        let words = [user, isGood ? credential : "wrong"].map {
            $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        return "turn://\(words[0]):\(words[1])@\(host):\(port)?transport=\(transport)"
    }

    /// The number of relays allocated for a user so far.
    public func allocations(of name: String) -> Int {
        process.output.split(separator: "\n").count {
            $0.contains("ALLOCATE processed, success") && $0.contains(":\(name)>")
        }
    }
}
