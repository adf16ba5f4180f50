package import MediaBasics
package import MediaCore
internal import Synchronization

/// Calls the receiver of a membership, and the feedback of its publications, one call at a time and
/// in order, on a serial queue, until the receiver is released. Thread: any.
package final class ReceiverQueue: Sendable {
    /// The maximum number of events that wait. Events are never discarded, so a transport
    /// disconnects a member that exceeds it.
    package static let capacity = 4096

    /// One callback of the receiver. Tasks that the callback starts inherit this value, which
    /// identifies them.
    private struct Turn: Sendable {
        @TaskLocal static var current: Turn?
        let holder: ReceiverQueue
        let number: Int
    }

    private struct State {
        /// `nil` once it is released.
        var receiver: (any ChannelReceiver)?
        var turn = 0
        var isInTurn = false

        mutating func beginTurn() -> (receiver: any ChannelReceiver, number: Int)? {
            guard let receiver else { return nil }
            turn += 1
            isInTurn = true
            return (receiver, turn)
        }
    }
    private let state: Mutex<State>
    package let queue: SerialQueue
    private let waitingEvents = Atomic<Int>(0)

    package init(_ receiver: any ChannelReceiver, label: String) {
        state = Mutex(State(receiver: receiver))
        queue = SerialQueue(label: label)
    }

    /// Calls `body` with the receiver. Call it on ``queue``.
    ///
    /// - Returns: False, without a call, if the receiver is released.
    @discardableResult
    package func call(_ body: (any ChannelReceiver) -> Void) -> Bool {
        guard let (receiver, number) = state.withLock({ $0.beginTurn() }) else { return false }
        Turn.$current.withValue(Turn(holder: self, number: number)) { body(receiver) }
        state.withLock { $0.isInTurn = false }
        return true
    }

    /// Asks the receiver for a token; `nil` if it is released, or has none.
    package func token(for reason: TokenReason) async throws(EngineError) -> String? {
        guard let receiver = state.withLock({ $0.receiver }) else { return nil }
        return try await receiver.token(for: reason)
    }

    /// Releases the receiver: no callback starts after this. A running callback continues.
    package func release() {
        // Released outside the lock, because that may run foreign code.
        _ = state.withLock { $0.receiver.take() }
    }

    /// Returns when no callback is running; immediately in a task that the running callback has
    /// started, so that the callback may wait for it.
    package func silence() async {
        let isInOwnTurn = state.withLock { state in
            guard let own = Turn.current, own.holder === self else { return false }
            return state.isInTurn && state.turn == own.number
        }
        if isInOwnTurn { return }
        // The queue is serial, so this block runs after the callback.
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }

    /// Queues a call.
    ///
    /// - Parameters:
    ///   - call: Calls the receiver.
    ///   - undelivered: Called instead if the receiver is released first.
    package func post(
        _ call: @escaping @Sendable (any ChannelReceiver) -> Void,
        undelivered: @escaping @Sendable () -> Void = {}
    ) {
        queue.async { [self] in if !self.call(call) { undelivered() } }
    }

    /// Queues an event.
    ///
    /// - Returns: False if more than ``capacity`` events are waiting.
    package func post(_ event: MembershipEvent) -> Bool {
        let waiting = waitingEvents.add(1, ordering: .relaxed).newValue
        queue.async { [self] in
            waitingEvents.subtract(1, ordering: .relaxed)
            call { $0.handle(event) }
        }
        return waiting <= Self.capacity
    }

    /// Reports the end of the channel to the receiver after the queued calls, and releases the
    /// receiver.
    package func seal(with error: EngineError) {
        queue.async { [self] in
            call { $0.handle(.disconnected(error)) }
            release()
        }
    }
}

// MARK: Counts

/// Counts the frames of one kind on one path, and adds them to sums. Thread: any.
package final class ChannelTally: Sendable {
    /// What became of a frame.
    package enum Outcome: Sendable {
        case sent, delivered
        case dropped(DropCause)
    }
    private let counts = Mutex(FrameBalance())
    private let sums: [ChannelTally]

    package init(addingTo sums: [ChannelTally] = []) { self.sums = sums }

    package func count(_ outcome: Outcome) {
        counts.withLock { counts in
            switch outcome {
            case .sent: counts.offered += 1
            case .delivered: counts.delivered += 1
            case .dropped(let cause): counts.dropped[cause] += 1
            }
        }
        for sum in sums { sum.count(outcome) }
        CountWatch.noteCount()
    }

    package var frames: FrameBalance { counts.withLock { $0 } }
}

/// The counts of the video and the audio on one path.
package struct ChannelTallies: Sendable {
    package let video: ChannelTally
    package let audio: ChannelTally

    package init(addingTo sums: ChannelTallies...) {
        video = ChannelTally(addingTo: sums.map(\.video))
        audio = ChannelTally(addingTo: sums.map(\.audio))
    }

    package subscript(stream: MediaTrackID) -> ChannelTally { stream == .audio ? audio : video }
}
