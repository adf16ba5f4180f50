package import MediaCore

/// A series of processors between a gate and a fan-out.
///
/// A frame that a processor drops is not passed on. If a processor throws, `onFailure` is called
/// with the error and the frame is dropped. Thread: any, one frame at a time.
package final class ProcessorChain: VideoFrameConsumer {
    private let processors: [any VideoProcessor & Sendable]
    private let next: any VideoFrameConsumer
    private let onFailure: @Sendable (any Error) -> Void

    /// Creates a chain.
    ///
    /// - Parameters:
    ///   - processors: Called in this order on the thread that calls ``consume(_:)``; empty for
    ///     none.
    ///   - next: Receives the processed frames.
    ///   - onFailure: Called with the error of a processor that threw, on the thread that calls
    ///     ``consume(_:)``.
    package init(
        _ processors: [any VideoProcessor & Sendable], to next: any VideoFrameConsumer,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.processors = processors
        self.next = next
        self.onFailure = onFailure
    }

    /// Takes pictures only.
    package func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { .wrongBufferType }

    /// Processes the frame and passes the result on, on the caller's thread.
    ///
    /// - Returns: The result of the next consumer; ``DropCause/processor`` if a processor dropped
    ///   the frame or threw.
    @discardableResult
    package func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        // The frame is moved, not copied: a processor that writes in place is the only owner of its
        // buffer.
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
