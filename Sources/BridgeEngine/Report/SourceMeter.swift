internal import MediaCore
internal import Synchronization

/// Counts what sources deliver to one place, and what became of it there. Thread: any.
final class SourceMeter: Sendable {
    let delivered = FrameMeter()
    private let acceptedFrames = Atomic<Int>(0)
    let drops = DropMeter()

    /// Frames that were answered with ``FrameDisposition/accepted``.
    var accepted: Int { acceptedFrames.load(ordering: .acquiring) }

    func note(_ receipt: SourceReceipt) {
        switch receipt.disposition {
        case .accepted: acceptedFrames.add(1, ordering: .releasing)
        case .dropped(let cause): if !receipt.isCounted { drops.note(cause) }
        }
    }
}

/// What a port's receiver says of a frame.
struct SourceReceipt: DeliveryOutcome, Sendable {
    let disposition: FrameDisposition
    /// Whether what dropped it has counted it.
    var isCounted = false

    static var accepted: SourceReceipt { SourceReceipt(disposition: .accepted) }

    static func dropped(_ cause: DropCause) -> SourceReceipt {
        SourceReceipt(disposition: .dropped(cause))
    }
}
