internal import MediaCore

/// What becomes of a frame in its turn.
protocol DeliveryOutcome {
    static var accepted: Self { get }
    static func dropped(_ cause: DropCause) -> Self
}

extension FrameDisposition: DeliveryOutcome {}
