internal import CMediaBridge
internal import Synchronization

/// A short pause that the reader of a queue takes when the queue has run empty, before it sleeps: a
/// fast writer then wakes it once for many elements instead of for each.
///
/// To wake a thread costs as much as a frame that is passed on by reference: with the pause, a
/// bridge takes a quarter less CPU time and wall time. If a pause brought no more than one element,
/// which is so at the frame rate of any camera, the next ones are left out.
package final class AdaptivePause: Sendable {
    /// How long a pause lasts.
    private static let microseconds: UInt32 = 15
    /// The number of pauses that are left out after one that did not pay.
    private static let rest = 64

    private let left = Atomic<Int>(0)

    package init() {}

    /// Pauses, if it may pay. Called by the reader whenever it finds the queue empty.
    ///
    /// - Parameter written: Returns the number of elements that were ever written to the queue.
    package func take(_ written: () -> Int) {
        guard left.load(ordering: .relaxed) == 0 else {
            left.subtract(1, ordering: .relaxed)
            return
        }
        let before = written()
        mb_sleep_precisely(Self.microseconds)
        if written() - before <= 1 { left.store(Self.rest, ordering: .relaxed) }
    }
}
