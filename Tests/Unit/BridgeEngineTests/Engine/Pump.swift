import Dispatch
import Foundation
import MediaCore
import Synchronization
import TestSupport

/// Delivers frames of a source from a thread of its own, one after the other, until it is stopped or
/// its source is.
final class Pump: Sendable {
    private let isOver = Atomic<Bool>(false)
    private let counts = Mutex((delivered: 0, accepted: 0))
    private let end = Happening()
    private let joined = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - script: The source, which has to be started first.
    ///   - milliseconds: The time of the first frame; the others are a millisecond apart.
    init(_ script: SourceScript, from milliseconds: Int = 0) {
        Task {
            await script.called("shouldStart")
            Thread.detachNewThread { self.run(script, milliseconds) }
        }
    }

    private func run(_ script: SourceScript, _ first: Int) {
        var disposition = FrameDisposition.accepted
        var number = 0
        while !isOver.load(ordering: .relaxed), disposition != .notStarted {
            disposition = (try? script.deliver(first + number)) ?? .badFormat
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

    /// Blocks until the last frame was delivered, as a pipeline's stop does. Once.
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
