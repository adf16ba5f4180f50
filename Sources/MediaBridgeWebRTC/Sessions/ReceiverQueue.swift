internal import BridgeEngine
internal import MediaBasics
internal import Synchronization

/// Calls the receiver of a channel, and what belongs to its publications, one call at a time and in order,
/// on a thread of its own; never after ``release()``.
///
/// Thread: any.
final class ReceiverQueue: Sendable {
    /// One call of the receiver. Tasks that the call starts inherit this value, which identifies them.
    private struct Turn: Sendable {
        @TaskLocal static var current: Turn?
        let queue: ReceiverQueue
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
    private let queue = SerialQueue(label: "mediabridge.webrtc.receiver")

    init(_ receiver: any ChannelReceiver) { state = Mutex(State(receiver: receiver)) }

    /// Queues a call.
    ///
    /// - Parameters:
    ///   - call: Calls the receiver.
    ///   - unheard: Called instead if the receiver is released meanwhile.
    func post(
        _ call: @escaping @Sendable (any ChannelReceiver) -> Void,
        unheard: @escaping @Sendable () -> Void = {}
    ) {
        queue.async { [self] in
            guard let (receiver, number) = state.withLock({ $0.beginTurn() }) else {
                return unheard()
            }
            Turn.$current.withValue(Turn(queue: self, number: number)) { call(receiver) }
            state.withLock { $0.isInTurn = false }
        }
    }

    /// Releases the receiver: no call begins after this. One that is running continues.
    func release() {
        // Released outside the lock, because that may run the program's code.
        _ = state.withLock { $0.receiver.take() }
    }

    /// Returns when no call is running; at once in a task that the running call has started.
    func silence() async {
        if let own = Turn.current, own.queue === self,
            state.withLock({ $0.isInTurn && $0.turn == own.number })
        {
            return
        }
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }
}
