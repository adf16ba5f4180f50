internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// One channel of a loopback network. It exists as long as it has members.
///
/// Thread: any. ``change(_:)`` returns deferred work; the caller finishes it when it holds no lock.
final class LoopbackChannel: Sendable {
    private let roster: Mutex<LoopbackRoster>
    /// Items in transit arrive on this queue.
    private let air = SerialQueue(label: "mediabridge.loopback.air")

    private let timeline: any Timeline
    private let onEmpty: @Sendable (LoopbackChannel) -> Void

    /// - Parameters:
    ///   - patience: How long a member whose connection is cut stays one.
    ///   - onEmpty: Called when the last member was removed because of a time limit.
    init(
        patience: Duration, timeline: any Timeline,
        onEmpty: @escaping @Sendable (LoopbackChannel) -> Void
    ) {
        roster = Mutex(LoopbackRoster(patience: patience, timeline: timeline))
        self.timeline = timeline
        self.onEmpty = onEmpty
    }

    var isEmpty: Bool { roster.withLock { $0.isEmpty } }

    /// Changes the channel.
    func change<R: Sendable>(
        _ body: (inout LoopbackRoster) -> R
    ) -> (result: R, deferred: DeferredActions) {
        roster.withLock { (body(&$0), $0.takeDeferredActions()) }
    }

    /// Changes the channel and does the deferred work.
    @discardableResult
    func perform<R: Sendable>(_ body: (inout LoopbackRoster) -> R) -> R {
        let (result, deferred) = change(body)
        deferred.finish(in: self)
        return result
    }

    func statistics(of slot: Int, into statistics: inout ChannelStatistics) {
        var copy = statistics
        roster.withLock { $0.statistics(of: slot, into: &copy) }
        statistics = copy
    }

    /// Calls `body` after a delay, if the channel still exists then.
    func after(_ delay: Duration, _ body: @escaping @Sendable (LoopbackChannel) -> Void) {
        _ = timeline.schedule(after: delay, on: air) { [weak self] in if let self { body(self) } }
    }

    func perform(_ action: DeferredActions.Later, after delay: Duration) {
        _ = timeline.schedule(after: delay, on: air) { [weak self] in
            guard let self else {
                if case .arrival(let flight) = action { flight.item.tally?.countClosed() }
                return
            }
            perform { roster in
                switch action {
                case .arrival(let flight): roster.arrive(flight)
                case .givingUp(let flight): roster.giveUp(before: flight)
                case .keyFrameNeeded(let track, let slot): roster.keyFrameNeeded(track, of: slot)
                case .attempt(let slot, let outage): roster.attempt(slot, outage: outage)
                }
            }
            if isEmpty { onEmpty(self) }
        }
    }
}
