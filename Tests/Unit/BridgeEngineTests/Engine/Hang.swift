import BridgeEngine
import Dispatch
import MediaBasics
import TestSupport

/// Holds a thread until it is released.
final class Hang: Sendable {
    private let isReleased = DispatchSemaphore(value: 0)
    private let isEntered = Happening()

    func wait() {
        isEntered.happen()
        isReleased.wait()
    }
    func signal() { isReleased.signal() }

    /// Suspends until a thread is held.
    func entered() async { await isEntered.wait() }
}

extension MediaEngine {
    /// Lets the deadline of a call pass that hangs, while no other call is being made.
    nonisolated func giveUp(_ hang: Hang) async {
        await hang.entered()
        await time.expire(configuration.callDeadline)
    }
}

/// Runs `body` on a thread of its own, where it may block.
func blocking<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { done in
        SerialQueue(label: "test").async { done.resume(returning: body()) }
    }
}
