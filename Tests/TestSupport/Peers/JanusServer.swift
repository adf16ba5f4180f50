import Foundation
import Synchronization

/// A Janus with nothing but its VideoRoom and its WebSocket, on a test's network or beside the test: Debian's
/// package janus. It starts in 0.1 s, ends with its network, and can be killed and started again. Thread: any.
public final class JanusServer: Sendable {
    /// The path of `janus.jcfg` and all other settings.
    private let directory: String
    /// `nil` where it runs beside the test.
    private let machine: NetworkNamespace?
    private let running = Mutex<ChildProcess?>(nil)

    /// Where clients connect, with the subprotocol `janus-protocol`: `ws://10.77.0.1:8188`, or `wss://…`
    /// where it has a certificate. Beside the test it is at 127.0.0.1.
    public let url: String

    /// Whether there is a program `janus`.
    public static var isInstalled: Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/janus")
        }
    }

    /// Writes the settings, starts the server and waits until its port accepts.
    ///
    /// - Parameters:
    ///   - machine: `nil` for the test's own, which is for signalling alone: Janus offers no media at
    ///     127.0.0.1. There the caller kills it at the end.
    ///   - directory: Nobody else's. It must exist as long as the server runs.
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

    /// Starts it again, with the settings it had, and waits until its port accepts. Rooms that were not in
    /// its settings are gone.
    public func start() async throws {
        let arguments = ["-F", directory, "--disable-colors"]
        let process =
            try machine?.start("janus", arguments) ?? ChildProcess("janus", arguments)
        running.withLock { $0 = process }
        // Written when the socket listens already.
        try await process.waitForOutput("WebSockets thread started")
    }

    /// Kills it without a chance to say goodbye (SIGKILL), and waits until it is gone.
    public func kill() async throws { try await end(by: SIGKILL) }

    /// Asks it to end (SIGTERM), and waits until it has.
    public func stop() async throws { try await end(by: SIGTERM) }

    private func end(by signal: Int32) async throws {
        guard let process = running.withLock({ $0.take() }) else { return }
        process.send(signal: signal)
        _ = try await process.end()
    }

    /// The process; `nil` after its end.
    public var process: ChildProcess? { running.withLock { $0 } }

    /// Sends a signal, which is neither waited for nor remembered.
    public func send(signal: Int32) { running.withLock { $0 }?.send(signal: signal) }

    /// What it has logged since it was started last.
    public var log: String { running.withLock { $0?.output } ?? "" }
}
