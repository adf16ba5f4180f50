internal import MediaCore
internal import Synchronization

/// Counts the frames that sources deliver to one point, and their outcomes there. Thread: any.
final class SourceMeter: Sendable {
    let delivered = FrameMeter()
    private let acceptedFrames = Atomic<Int>(0)
    let drops = DropMeter()

    /// Frames for which the result was ``FrameDisposition/accepted``.
    var accepted: Int { acceptedFrames.load(ordering: .acquiring) }

    func note(_ receipt: SourceReceipt) {
        switch receipt.disposition {
        case .accepted: acceptedFrames.add(1, ordering: .releasing)
        case .dropped(let cause): if !receipt.isCounted { drops.note(cause) }
        }
    }
}

/// The result of a port's receiver for one frame.
struct SourceReceipt: DeliveryOutcome, Sendable {
    let disposition: FrameDisposition
    /// Whether the component that dropped the frame has counted the drop already.
    var isCounted = false

    static var accepted: SourceReceipt { SourceReceipt(disposition: .accepted) }

    static func dropped(_ cause: DropCause) -> SourceReceipt {
        SourceReceipt(disposition: .dropped(cause))
    }
}
