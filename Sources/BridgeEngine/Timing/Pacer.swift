internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Holds a file's frame until it is due. Thread: any.
final class Pacer: Sendable {
    private let waiting = Mutex<[MonotonicSignal]>([])

    /// Whether a frame is held now.
    var isHolding: Bool { waiting.withLock { !$0.isEmpty } }

    /// Blocks until `due`.
    ///
    /// - Parameter isWanted: Called again before each wait, so that a release just before the wait
    ///   is not missed.
    /// - Returns: False if the frame is no longer wanted, or ``release()`` was called first.
    func wait(until due: MediaTime, on clock: EngineClock, while isWanted: () -> Bool) -> Bool {
        while true {
            let rest = due - clock.now
            guard rest > .zero else { return true }
            let wake = MonotonicSignal()
            waiting.withLock { $0.append(wake) }
            if !isWanted() { wake.signal() }
            let isReleased = wake.wait(for: rest.duration, on: clock.timeline)
            waiting.withLock { $0.removeAll { $0 === wake } }
            if isReleased { return false }
        }
    }

    /// Wakes all waiting threads.
    func release() {
        waiting.withLock { $0 }.forEach { $0.signal() }
    }
}
