import BridgeEngine
import Dispatch
import MediaBasics
import TestSupport

/// Blocks a thread until it is released.
final class Hang: Sendable {
    private let isReleased = DispatchSemaphore(value: 0)
    private let isEntered = Happening()

    func wait() {
        isEntered.happen()
        isReleased.wait()
    }
    func signal() { isReleased.signal() }

    /// Suspends until a thread is blocked.
    func entered() async { await isEntered.wait() }
}

extension MediaEngine {
    /// Lets the deadline of a hanging call expire, while no other call is in progress.
    nonisolated func giveUp(_ hang: Hang) async {
        await hang.entered()
        await time.expire(configuration.callTimeout)
    }
}

/// Runs `body` on a separate thread, where it may block.
func blocking<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { done in
        SerialQueue(label: "test").async { done.resume(returning: body()) }
    }
}
