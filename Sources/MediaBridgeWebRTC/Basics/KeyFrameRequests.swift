internal import MediaBasics
internal import Synchronization

/// Merges requests for key frames: one is passed on at once, those that follow too soon are postponed
/// together, and none is ever dropped.
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

    /// The shortest time between two requests that are passed on: at most four a second.
    static let gap = Duration.milliseconds(250)
    /// After this time a key frame that was asked for and has not come is asked for again.
    static let retry = Duration.milliseconds(500)

    init(on timeline: any Timeline = .system) { self.timeline = timeline }

    /// Requests a key frame.
    ///
    /// - Parameter ask: Passes the request on. Called on this thread, or later on one of a timer.
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

    /// Requests a key frame for somebody who still waits for one. Of no effect shortly after a request.
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

    /// Passes on nothing more.
    func end() {
        // The timer, and what it holds, is released outside the lock.
        _ = state.withLock { state in
            state.isOver = true
            return state.timer.take()
        }
    }
}
