package import MediaCore
internal import Synchronization

/// A gate between a source and its receivers, open from start to stop and closed otherwise.
///
/// Frames that arrive while it is closed are discarded and counted. Thread: any.
package final class ConsumerGate: VideoFrameConsumer {
    private let next: any VideoFrameConsumer
    private let state = Atomic<Bool>(false)
    private let discarded = Atomic<Int>(0)

    /// Creates a closed gate.
    ///
    /// - Parameter next: Receives the frames that arrive while the gate is open.
    package init(to next: any VideoFrameConsumer) { self.next = next }

    /// Whether the gate is open.
    package var isOpen: Bool { state.load(ordering: .acquiring) }

    /// Opens the gate for frames from now on.
    package func open() { state.store(true, ordering: .releasing) }

    /// Closes the gate. A frame that has passed already continues.
    package func close() { state.store(false, ordering: .releasing) }

    /// The number of frames that arrived while the gate was closed.
    package var discardedFrames: Int { discarded.load(ordering: .relaxed) }

    /// Takes pictures only.
    package func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { .wrongBufferType }

    /// Passes the frame on if the gate is open, on the caller's thread.
    ///
    /// - Returns: The result of the next consumer; ``DropCause/notStarted`` if the gate is closed.
    @discardableResult
    package func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard isOpen else {
            discarded.add(1, ordering: .relaxed)
            return .dropped(.notStarted)
        }
        return next.consume(consume frame)
    }
}
