public import MediaCore

/// Processors in a row between a gate and a fan-out.
///
/// A frame that a processor drops goes no further. One that fails is told to `onFailure`, and the frame
/// goes no further either. Thread: any, one frame at a time.
public final class ProcessorChain: VideoFrameConsumer {
    private let processors: [any VideoProcessor & Sendable]
    private let next: any VideoFrameConsumer
    private let onFailure: @Sendable (any Error) -> Void

    public init(
        _ processors: [any VideoProcessor & Sendable], to next: any VideoFrameConsumer,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.processors = processors
        self.next = next
        self.onFailure = onFailure
    }

    @discardableResult
    public func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        // Handed on, not kept: a processor that writes in place finds itself the only owner.
        var current: VideoFrame? = consume frame
        for processor in processors {
            do {
                guard let taken = current.take(),
                    let result = try processor.process(consume taken)
                else { return .dropped(.processor) }
                current = consume result
            } catch {
                onFailure(error)
                return .dropped(.processor)
            }
        }
        guard let result = current.take() else { return .dropped(.processor) }
        return next.consume(consume result)
    }
}
