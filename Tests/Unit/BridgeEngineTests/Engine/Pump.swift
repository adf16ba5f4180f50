import Dispatch
import Foundation
import MediaCore
import Synchronization
import TestSupport

/// Delivers a source's frames one after the other from a separate thread, until the pump or its
/// source is stopped.
final class Pump: Sendable {
    private let isOver = Atomic<Bool>(false)
    private let counts = Mutex((delivered: 0, accepted: 0))
    private let end = Happening()
    private let joined = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - script: The source, which must be started first.
    ///   - milliseconds: The time of the first frame; the others follow at intervals of one
    ///     millisecond.
    init(_ script: SourceScript, from milliseconds: Int = 0) {
        Task {
            await script.called("shouldStart")
            Thread.detachNewThread { self.run(script, milliseconds) }
        }
    }

    private func run(_ script: SourceScript, _ first: Int) {
        var disposition = FrameDisposition.accepted
        var number = 0
        while !isOver.load(ordering: .relaxed), disposition != .dropped(.notStarted) {
            disposition = (try? script.deliver(first + number)) ?? .dropped(.badFormat)
            let isAccepted = disposition.isAccepted
            number += 1
            counts.withLock {
                $0.delivered += 1
                if isAccepted { $0.accepted += 1 }
            }
        }
        end.happen()
        joined.signal()
    }

    /// Blocks until the last frame was delivered, like a pipeline's stop. Call once.
    func join() {
        isOver.store(true, ordering: .relaxed)
        joined.wait()
    }

    var accepted: Int { counts.withLock { $0.accepted } }
    var delivered: Int { counts.withLock { $0.delivered } }

    /// Returns when the last frame was delivered.
    func stop() async {
        isOver.store(true, ordering: .relaxed)
        await end.wait()
    }
}
