import Foundation
import MediaCore
import Synchronization
import TestSupport

/// Delivers frames of a source from a thread of its own, one after the other, until it is stopped.
final class Pump: Sendable {
    private let isOver = Atomic<Bool>(false)
    private let counts = Mutex((delivered: 0, accepted: 0))
    private let end = Happening()
    private let joined = DispatchSemaphore(value: 0)

    /// - Parameter deliver: Delivers the frame of this number.
    init(_ deliver: @escaping @Sendable (Int) -> FrameDisposition) {
        Thread.detachNewThread { [self] in
            var number = 0
            while !isOver.load(ordering: .relaxed) {
                let isAccepted = deliver(number).isAccepted
                number += 1
                counts.withLock {
                    $0.delivered += 1
                    if isAccepted { $0.accepted += 1 }
                }
                // No frame is worth a whole processor.
                if !isAccepted { usleep(200) }
            }
            end.happen()
            joined.signal()
        }
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

extension Pump {
    /// Frames of one source, a millisecond apart.
    convenience init(_ script: SourceScript) {
        self.init { number in (try? script.deliver(number)) ?? .badFormat }
    }
}
