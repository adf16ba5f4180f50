internal import Dispatch
internal import MediaCore
internal import Synchronization

/// Holds the frame of a file until it is due. Thread: any, one frame at a time.
final class Pacer: Sendable {
    private struct State {
        var waiting: [DispatchSemaphore] = []
    }
    private let state = Mutex(State())

    /// Blocks until `due`.
    ///
    /// - Parameter isWanted: Asked again before each wait: a release that came just before it is not
    ///   missed.
    /// - Returns: False where the frame is not wanted any more, or ``release()`` came first.
    func wait(until due: MediaTime, on clock: EngineClock, while isWanted: () -> Bool) -> Bool {
        while true {
            let rest = due - clock.now
            guard rest > .zero else { return true }
            let wake = DispatchSemaphore(value: 0)
            state.withLock { $0.waiting.append(wake) }
            if !isWanted() { wake.signal() }
            let isReleased = wake.wait(timeout: .now() + rest.duration.timeInterval) == .success
            state.withLock { state in state.waiting.removeAll { $0 === wake } }
            if isReleased { return false }
        }
    }

    /// Lets whoever waits go.
    func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }
}
