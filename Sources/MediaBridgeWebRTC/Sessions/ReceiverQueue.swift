internal import BridgeEngine
internal import MediaBasics

/// Calls the receiver of a channel and the feedback of its publications, one call at a time and in
/// order, on a serial queue. It makes no calls after ``release()``.
///
/// Thread: any.
final class ReceiverQueue: Sendable {
    private let receiver: HeldReceiver
    private let queue = SerialQueue(label: "mediabridge.webrtc.receiver")

    init(_ receiver: any ChannelReceiver) { self.receiver = HeldReceiver(receiver) }

    /// Queues a call.
    ///
    /// - Parameters:
    ///   - call: Calls the receiver.
    ///   - unheard: Called instead if the receiver is released first.
    func post(
        _ call: @escaping @Sendable (any ChannelReceiver) -> Void,
        unheard: @escaping @Sendable () -> Void = {}
    ) {
        queue.async { [receiver] in
            if !receiver.call(call) { unheard() }
        }
    }

    /// Releases the receiver: no further call begins. A running call continues.
    func release() { receiver.release() }

    /// Returns when no call is running; at once in a task that was started by the running call.
    func silence() async {
        if receiver.isInOwnTurn { return }
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }
}
