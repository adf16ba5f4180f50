public import MediaCore
internal import Synchronization

/// The gate between a source and everything behind it: open from start to stop, and shut otherwise.
///
/// A frame that comes while it is shut is discarded and counted. Thread: any.
public final class ConsumerGate: VideoFrameConsumer {
    private let next: any VideoFrameConsumer
    private let state = Atomic<Bool>(false)
    private let discarded = Atomic<Int>(0)

    /// - Parameter next: Gets the frames that come while the gate is open.
    public init(to next: any VideoFrameConsumer) { self.next = next }

    /// Whether frames come through.
    public var isOpen: Bool { state.load(ordering: .acquiring) }

    /// Lets frames through from here on.
    public func open() { state.store(true, ordering: .releasing) }

    /// Shuts the gate. A frame that is already through goes on.
    public func close() { state.store(false, ordering: .releasing) }

    /// Frames that came while the gate was shut.
    public var discardedFrames: Int { discarded.load(ordering: .relaxed) }

    @discardableResult
    public func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard isOpen else {
            discarded.add(1, ordering: .relaxed)
            return .dropped(.notStarted)
        }
        return next.consume(consume frame)
    }
}
