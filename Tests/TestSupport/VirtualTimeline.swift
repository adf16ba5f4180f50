package import MediaBasics
package import MediaCore

/// Time that advances only when a test advances it. Thread: any.
package final class VirtualTimeline: Timeline {
    private struct Alarm {
        let due: Duration
        /// The delay that was requested when the alarm was set.
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
        // The captures of the closure are released outside the lock.
        _ = state.change { $0.alarms.removeValue(forKey: number) }
    }

    /// Advances the time: alarms fire at their time, one after the other, and the work of each is
    /// done before the next fires. Not for queues that wait for this timeline.
    package func advance(by duration: Duration) {
        let end = now + duration
        while let alarm = state.change({ $0.ring(by: end) }) { alarm.queue.sync(alarm.body) }
    }

    package func advance(by duration: MediaTime) { advance(by: duration.duration) }

    package func advance(to time: MediaTime) { advance(by: time.duration - now) }

    /// Suspends until exactly `count` alarms are set that fire after `duration`.
    package func alarms(_ count: Int = 1, in duration: Duration) async {
        await state.wait { state in
            state.alarms.values.count { $0.due == state.now + duration } == count
        }
    }

    /// Advances the time to the next alarm, once there is one that fires within `duration`.
    package func follow(within duration: Duration) async {
        await state.wait { state in
            state.alarms.values.contains { $0.due <= state.now + duration }
        }
        guard let next = state.value.alarms.values.map(\.due).min(), next <= now + duration
        else { return }
        advance(by: next - now)
    }

    /// Advances the time to the next alarm that was set for `delay`, once there is one. The alarm
    /// may also be set while another caller advances the time.
    package func ringNext(after delay: Duration) async {
        await state.wait { state in state.alarms.values.contains { $0.delay == delay } }
        let (now, alarms) = (state.value.now, state.value.alarms.values)
        guard !Task.isCancelled, let due = alarms.filter({ $0.delay == delay }).map(\.due).min()
        else { return }
        advance(by: max(.zero, due - now))
    }

    /// Advances the time by `duration` once exactly `count` alarms are set for its end.
    package func expire(_ duration: Duration, alarms count: Int = 1) async {
        await alarms(count, in: duration)
        if !Task.isCancelled { advance(by: duration) }
    }
}
