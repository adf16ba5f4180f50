import Foundation
import Synchronization

/// A Janus server with only its VideoRoom and its WebSocket transport, on a test's network or next
/// to the test: Debian's package janus. It starts in 0.1 s, ends with its network, and can be
/// killed and restarted. Thread: any.
public final class JanusServer: Sendable {
    /// The path of `janus.jcfg` and all other settings.
    private let directory: String
    /// `nil` if the server runs next to the test.
    private let machine: NetworkNamespace?
    private let running = Mutex<ChildProcess?>(nil)

    /// The address for clients, with the subprotocol `janus-protocol`: `ws://10.77.0.1:8188`, or
    /// `wss://…` with a certificate. Next to the test, the server is at 127.0.0.1.
    public let url: String

    /// Whether the program `janus` is installed.
    public static var isInstalled: Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/janus")
        }
    }

    /// Writes the settings, starts the server and waits until its port accepts connections.
    ///
    /// - Parameters:
    ///   - machine: `nil` runs the server next to the test, for signalling only: Janus offers no
    ///     media on 127.0.0.1. The caller must then kill the server.
    ///   - directory: Used only by this server. It must exist as long as the server runs.
    public init(
        on machine: NetworkNamespace?, in directory: TemporaryDirectory,
        _ configuration: Configuration = .init()
    ) async throws {
        self.directory = directory.path
        self.machine = machine
        let scheme = configuration.certificate == nil ? "ws" : "wss"
        let address = machine?.address ?? "127.0.0.1"
        url = "\(scheme)://\(address):\(configuration.port)"
        try configuration.write(to: directory, address: address)
        try await start()
    }

    /// Restarts the server with the same settings, and waits until its port accepts connections.
    /// Rooms that are not in the settings are lost.
    public func start() async throws {
        let arguments = ["-F", directory, "--disable-colors"]
        let process =
            try machine?.start("janus", arguments) ?? ChildProcess("janus", arguments)
        running.withLock { $0 = process }
        // Janus logs this when the socket already listens.
        try await process.waitForOutput("WebSockets thread started")
    }

    /// Kills the server without a clean shutdown (SIGKILL), and waits until it has ended.
    public func kill() async throws { try await end(by: SIGKILL) }

    /// Asks the server to end (SIGTERM), and waits until it has.
    public func stop() async throws { try await end(by: SIGTERM) }

    private func end(by signal: Int32) async throws {
        guard let process = running.withLock({ $0.take() }) else { return }
        process.send(signal: signal)
        _ = try await process.end()
    }

    /// The process; `nil` after its end.
    public var process: ChildProcess? { running.withLock { $0 } }

    /// Sends a signal without waiting for its effect. ``process`` stays the same.
    public func send(signal: Int32) { running.withLock { $0 }?.send(signal: signal) }

    /// The log since the last start.
    public var log: String { running.withLock { $0?.output } ?? "" }
}
