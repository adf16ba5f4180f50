package import MediaBasics
package import MediaCore

/// Time that passes only when a test lets it pass. Thread: any.
package final class VirtualTimeline: Timeline {
    private struct Alarm {
        let due: Duration
        /// How long after its setting it is due.
        let delay: Duration
        let queue: SerialQueue
        let body: @Sendable () -> Void
    }
    private struct State {
        var now = Duration.seconds(1000)
        var alarms: [UInt64: Alarm] = [:]
        var last: UInt64 = 0

        /// Removes the earliest alarm that is due by `end`, and moves to its time.
        mutating func ring(by end: Duration) -> Alarm? {
            let first = alarms.min { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
            guard let (number, alarm) = first, alarm.due <= end else {
                now = max(now, end)
                return nil
            }
            alarms[number] = nil
            now = max(now, alarm.due)
            return alarm
        }
    }
    private let state = Observed(State())

    package init() {}

    package var now: Duration { state.value.now }

    package func schedule(
        after delay: Duration, on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) -> UInt64 {
        let number = state.change { state in
            state.last += 1
            if delay > .zero {
                state.alarms[state.last] = Alarm(
                    due: state.now + delay, delay: delay, queue: queue, body: body)
            }
            return state.last
        }
        if delay <= .zero { queue.async(body) }
        return number
    }

    package func cancel(_ number: UInt64) {
        // What the closure holds is released outside the lock.
        _ = state.change { $0.alarms.removeValue(forKey: number) }
    }

    /// Lets time pass: alarms ring at their time, one after the other, and each one's work is done
    /// before the next rings. Not for queues that wait for this timeline.
    package func advance(by duration: Duration) {
        let end = now + duration
        while let alarm = state.change({ $0.ring(by: end) }) { alarm.queue.sync(alarm.body) }
    }

    package func advance(by duration: MediaTime) { advance(by: duration.duration) }

    package func advance(to time: MediaTime) { advance(by: time.duration - now) }

    /// Suspends until exactly `count` alarms are set that ring after `duration`.
    package func alarms(_ count: Int = 1, in duration: Duration) async {
        await state.wait { state in
            state.alarms.values.count { $0.due == state.now + duration } == count
        }
    }

    /// Lets time pass up to the next alarm, as soon as there is one that rings within `duration`.
    package func follow(within duration: Duration) async {
        await state.wait { state in
            state.alarms.values.contains { $0.due <= state.now + duration }
        }
        guard let next = state.value.alarms.values.map(\.due).min(), next <= now + duration
        else { return }
        advance(by: next - now)
    }

    /// Lets time pass up to the next alarm that was set for `delay`, as soon as there is one, also if it was set
    /// while somebody else let time pass.
    package func ringNext(after delay: Duration) async {
        await state.wait { state in state.alarms.values.contains { $0.delay == delay } }
        let (now, alarms) = (state.value.now, state.value.alarms.values)
        guard !Task.isCancelled, let due = alarms.filter({ $0.delay == delay }).map(\.due).min()
        else { return }
        advance(by: max(.zero, due - now))
    }

    /// Lets `duration` pass as soon as exactly `count` alarms are set for its end.
    package func expire(_ duration: Duration, alarms count: Int = 1) async {
        await alarms(count, in: duration)
        if !Task.isCancelled { advance(by: duration) }
    }
}
