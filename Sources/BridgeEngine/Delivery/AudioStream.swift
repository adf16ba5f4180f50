internal import MediaCore
internal import Synchronization

/// Hands sound on to whoever listens: queues of sinks, and taps that take it at once. Thread: any.
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
        // The list it was in is let go of outside of the lock: what waits in a queue is the program's.
        _ = state.withLock { state in
            let before = state.feeds
            state.feeds.removeAll { $0 === feed }
            return before
        }
    }

    /// - Parameter body: Called on the stream's own thread; returns soon.
    func tap(_ body: @escaping @Sendable (AudioFrame) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.taps[state.next] = body
            return state.next
        }
    }

    func untap(_ number: Int) {
        // What it holds is let go of outside of the lock.
        _ = state.withLock { $0.taps.removeValue(forKey: number) }
    }

    var isIdle: Bool { state.withLock { $0.feeds.isEmpty && $0.taps.isEmpty } }

    /// Whether a source may be made to wait for room.
    func setMayBlock(_ mayBlock: Bool) {
        state.withLock { $0.feeds }.forEach { $0.setMayBlock(mayBlock) }
    }

    func consume(_ frame: AudioFrame) {
        let (feeds, taps) = state.withLock { ($0.feeds, $0.taps) }
        for tap in taps.values { tap(frame) }
        for feed in feeds { feed.offer(frame) }
    }
}
