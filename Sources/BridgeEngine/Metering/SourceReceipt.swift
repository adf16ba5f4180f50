internal import MediaCore

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
