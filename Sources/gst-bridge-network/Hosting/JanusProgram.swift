import Foundation
import Glibc
import MediaBridge
import Synchronization

/// A Janus server in a child process, which is restarted when it dies. It ends with this process,
/// even if this process is killed.
final class JanusProgram: Sendable {
    private let settings: JanusSettings
    private struct State {
        var process: Int32?
        var isOver = false
        /// The last lines of its output.
        var lines: [String] = []
        /// Why Janus could not be started.
        var failure: (any Error)?
    }
    private let state = Mutex(State())
    /// Finishes when Janus has ended and will not be restarted.
    private let (ended, ending) = AsyncStream.makeStream(of: Never.self)
    /// Printed when the WebSocket is listening.
    private static let readyText = "WebSockets thread started"
    private static let readyTimeout = Duration.seconds(10)
    /// The timeout for stopping Janus.
    private static let endTimeout = Duration.seconds(5)

    init(_ settings: JanusSettings) { self.settings = settings }

    /// Starts Janus and keeps it running.
    ///
    /// - Parameter onRestart: Called when Janus runs again after it had died.
    /// - Throws: ``PipelineError`` if Janus does not start.
    func start(onRestart: @escaping @Sendable () -> Void) async throws(PipelineError) {
        let ready = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        // The kernel kills the program when the thread that started it ends. This thread outlives
        // the program.
        Thread { [self] in
            var isFirst = true
            while true {
                do {
                    try runOnce {
                        if isFirst { ready.continuation.yield(true) } else { onRestart() }
                        isFirst = false
                    }
                } catch {
                    state.withLock { $0.failure = error }
                }
                // If the first start failed, another attempt would fail too.
                guard !isFirst, !state.withLock({ $0.isOver }) else { break }
                Thread.sleep(forTimeInterval: 0.5)
            }
            ready.continuation.yield(false)
            ending.finish()
        }.start()
        let limit = Task {
            try await Task.sleep(for: Self.readyTimeout)
            ready.continuation.yield(false)
        }
        defer { limit.cancel() }
        for await isReady in ready.stream {
            if isReady { return }
            break
        }
        await end()
        throw failure
    }

    private var failure: PipelineError {
        let (lines, failure) = state.withLock { ($0.lines, $0.failure) }
        if let failure = failure as? PipelineError { return failure }
        let told = lines.last { $0.contains("[ERR]") || $0.contains("[FATAL]") } ?? lines.last
        return PipelineError(
            .resourceFailed,
            message: "the Janus server did not start"
                + (failure.map { ": \($0)" } ?? told.map { ": \($0)" } ?? ""),
            advice: "sudo apt-get install janus, if it is missing")
    }

    /// Stops Janus, and waits until it has ended.
    func end() async {
        state.withLock { state in
            state.isOver = true
            if let process = state.process { kill(process, SIGTERM) }
        }
        let limit = Task {
            try await Task.sleep(for: Self.endTimeout)
            state.withLock { state in
                if let process = state.process { kill(process, SIGKILL) }
            }
        }
        for await _ in ended {}
        limit.cancel()
    }

    /// Runs Janus until it ends. Calls `onReady` when it is listening.
    ///
    /// The settings are deleted once Janus has read them, so that a host that is killed later
    /// leaves no file with the secret.
    private func runOnce(onReady: () -> Void) throws {
        let directory = try settings.write()
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // A child inherits the signals that this process blocks, and Janus would never receive
        // SIGTERM. When this process is killed, the kernel sends the signal once for each of its
        // threads, and Janus crashes at the third SIGTERM.
        process.arguments = [
            "--default-signal", "setpriv", "--pdeathsig", "KILL", "janus", "-F", directory.path,
            "--disable-colors",
        ]
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (output, output)
        let isStarted = try state.withLock { state in
            guard !state.isOver else { return false }
            try process.run()
            state.process = process.processIdentifier
            return true
        }
        guard isStarted else { return }
        try? output.fileHandleForWriting.close()
        read(output.fileHandleForReading) {
            try? FileManager.default.removeItem(at: directory)
            onReady()
        }
        process.waitUntilExit()
        state.withLock { $0.process = nil }
    }

    private func read(_ output: FileHandle, _ onReady: () -> Void) {
        var rest = Data()
        // `availableData` traps if a signal interrupts it.
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(output.fileDescriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest.append(contentsOf: bytes[..<count])
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                state.withLock { state in
                    state.lines.append(line)
                    if state.lines.count > 20 { state.lines.removeFirst() }
                }
                if line.contains(Self.readyText) { onReady() }
            }
            // No line of Janus is that long.
            if rest.count > 65536 { rest.removeAll() }
        }
    }
}
