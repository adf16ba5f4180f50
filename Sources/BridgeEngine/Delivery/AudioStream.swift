internal import MediaCore
internal import Synchronization

/// Distributes audio frames to the queues of sinks, and to taps, which are called immediately.
/// Thread: any.
final class AudioStream: Sendable {
    private struct State {
        var feeds: [AudioSinkFeed] = []
        var taps: [Int: @Sendable (AudioFrame) -> Void] = [:]
        var next = 0
    }
    private let state = Mutex(State())

    func attach(_ feed: AudioSinkFeed) {
        state.withLock { state in
            if !state.feeds.contains(where: { $0 === feed }) { state.feeds.append(feed) }
        }
    }

    func detach(_ feed: AudioSinkFeed) {
        // The previous list is released outside the lock, because queued frames may run the
        // program's code then.
        _ = state.withLock { state in
            let before = state.feeds
            state.feeds.removeAll { $0 === feed }
            return before
        }
    }

    /// Adds a callback for each frame.
    ///
    /// - Parameter body: Called on the thread that delivers the frames; must return quickly.
    func tap(_ body: @escaping @Sendable (AudioFrame) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.taps[state.next] = body
            return state.next
        }
    }

    func untap(_ number: Int) {
        // The callback is released outside the lock.
        _ = state.withLock { $0.taps.removeValue(forKey: number) }
    }

    var isIdle: Bool { state.withLock { $0.feeds.isEmpty && $0.taps.isEmpty } }

    /// Sets whether a source may be blocked until there is room.
    func setMayBlock(_ mayBlock: Bool) {
        state.withLock { $0.feeds }.forEach { $0.setMayBlock(mayBlock) }
    }

    func consume(_ frame: AudioFrame) {
        let (feeds, taps) = state.withLock { ($0.feeds, $0.taps) }
        for tap in taps.values { tap(frame) }
        for feed in feeds { feed.offer(AudioSinkFeed.Item(frame: frame)) }
    }
}
