import Foundation
import Synchronization

/// Whether the program has received SIGTERM.
///
/// Sendable: the source is not touched after it has been resumed.
final class Ending: @unchecked Sendable {
    private let source: any DispatchSourceSignal
    private let requested = Atomic<Bool>(false)
    private let (stream, continuation) = AsyncStream<Never>.makeStream()

    init() {
        signal(SIGTERM, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        source.setEventHandler { [weak self] in
            self?.requested.store(true, ordering: .relaxed)
            self?.continuation.finish()
        }
        source.resume()
    }

    var isRequested: Bool { requested.load(ordering: .relaxed) }

    func wait() async { for await _ in stream {} }
}

/// Runs `body` until the program receives SIGTERM; rethrows earlier errors of `body`.
func untilEnding(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let end = Ending()
    let task = Task {
        try await body()
        throw CancellationError()
    }
    let waiting = Task {
        await end.wait()
        task.cancel()
    }
    defer { waiting.cancel() }
    do { try await task.value } catch { if !end.isRequested { throw error } }
}

/// Writes a line to standard output at once.
func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
}
