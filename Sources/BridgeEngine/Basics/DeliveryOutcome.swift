internal import MediaCore

/// The result of delivering one frame.
protocol DeliveryOutcome {
    static var accepted: Self { get }
    static func dropped(_ cause: DropCause) -> Self
}

extension FrameDisposition: DeliveryOutcome {}
