import Foundation

/// Runs blocking code outside Swift's thread pool.
@discardableResult
func onAThreadOfItsOwn<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
