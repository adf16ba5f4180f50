internal import MediaBasics
internal import Synchronization

/// Merges keyframe requests. The first one is forwarded at once; requests that follow too soon are
/// merged into one that is forwarded later. No request is lost.
///
/// Thread: any.
final class KeyFrameRequests: Sendable {
    private struct State {
        var last: Duration?
        /// Runs while a request is postponed.
        var timer: OneShotTimer?
        var isOver = false
    }
    private let state = Mutex(State())
    private let timeline: any Timeline

    /// The minimum time between two forwarded requests: at most four a second.
    static let gap = Duration.milliseconds(250)
    /// How long to wait for a requested keyframe before it is requested again.
    static let retry = Duration.milliseconds(500)

    init(on timeline: any Timeline = .system) { self.timeline = timeline }

    /// Requests a keyframe.
    ///
    /// - Parameter ask: Forwards the request. Called on this thread, or later on a timer's thread.
    func request(_ ask: @escaping @Sendable () -> Void) {
        let asksNow = state.withLock { state in
            guard !state.isOver, state.timer == nil else { return false }
            let now = timeline.now
            if let last = state.last, now < last + Self.gap {
                state.timer = OneShotTimer(after: last + Self.gap - now, on: timeline) {
                    [weak self] in
                    self?.fire(ask)
                }
                return false
            }
            state.last = now
            return true
        }
        if asksNow { ask() }
    }

    /// Requests a keyframe again for a receiver that is still waiting for one. Ignored if the last
    /// request was made less than ``retry`` ago, or while a request is postponed.
    func repeatRequest(_ ask: @escaping @Sendable () -> Void) {
        let asksNow = state.withLock { state in
            let now = timeline.now
            guard !state.isOver, state.timer == nil else { return false }
            if let last = state.last, now < last + Self.retry { return false }
            state.last = now
            return true
        }
        if asksNow { ask() }
    }

    private func fire(_ ask: () -> Void) {
        let isOver = state.withLock { state in
            state.timer = nil
            state.last = timeline.now
            return state.isOver
        }
        if !isOver { ask() }
    }

    /// Ends: no request is forwarded any more.
    func end() {
        // The timer and what it retains are released outside the lock.
        _ = state.withLock { state in
            state.isOver = true
            return state.timer.take()
        }
    }
}
