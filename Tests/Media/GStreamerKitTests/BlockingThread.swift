import Foundation

/// Runs what blocks away from Swift's own threads.
@discardableResult
func onAThreadOfItsOwn<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
