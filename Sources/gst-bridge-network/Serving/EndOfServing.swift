import MediaBridge
import Synchronization

/// The first reason to end a command that serves.
final class EndOfServing: Sendable {
    enum Reason: Sendable {
        case endOfStream, duration, interrupt
        case failure(any Error)

        /// As `--report json` has it.
        var name: String {
            switch self {
            case .endOfStream: "eos"
            case .duration: "duration"
            case .interrupt: "interrupt"
            case .failure: "error"
            }
        }
    }
    private let reasons: AsyncStream<Reason>
    private let reason: AsyncStream<Reason>.Continuation

    init() { (reasons, reason) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1)) }

    func note(_ reason: Reason) { self.reason.yield(reason) }

    /// Waits for the first reason.
    ///
    /// - Parameter limit: The longest wait, which is a reason, too; `nil` for any.
    func wait(atMost limit: Duration?) async -> Reason {
        let timer = Task { [reason] in
            guard let limit else { return }
            try await Task.sleep(for: limit)
            reason.yield(.duration)
        }
        defer { timer.cancel() }
        for await reason in reasons { return reason }
        return .interrupt
    }
}
