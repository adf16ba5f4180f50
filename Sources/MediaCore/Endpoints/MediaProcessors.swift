/// Processes video between capture and outputs: reads a frame, changes it in place, or replaces it.
///
/// Called for one frame of a stream at a time, in frame order. The streams of a ``BridgePlan``
/// share its processors and may call a processor concurrently, so a plan accepts only Sendable
/// processors. An engine is the only caller of its processors, so they need not be Sendable.
///
/// A call may take as long as the frame's duration. If it takes longer, a bridge drops the oldest
/// frames of a live capture, and an engine that runs in real time drops the oldest frames of any
/// source; otherwise the source waits.
///
/// A conforming type may omit `consuming`; writing to the picture then copies it. With `consuming`,
/// writing copies only what another owner still holds: a `tee` in the pipeline, the other of
/// ``ProcessingPoint/encode`` and ``ProcessingPoint/render``, or an engine that keeps the last
/// picture.
public protocol VideoProcessor {
    /// Processes one frame.
    ///
    /// - Returns: The frame to pass on; `nil` drops the frame, counted as ``DropCause/processor``.
    /// - Throws: In a bridge, drops the frame and ends the run with the error, the files complete.
    ///   In an engine, drops the frame and reports the error; after three in a row the processor is
    ///   skipped.
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame?
}

/// Processes audio between a source and its receivers: reads a frame, changes it in place, or
/// replaces it.
///
/// Called for one frame at a time, in the order of the frames, so it need not be Sendable. The
/// counterpart of ``VideoProcessor``.
public protocol AudioProcessor {
    /// Processes one frame.
    ///
    /// - Returns: The frame to pass on; `nil` drops the frame, which is counted.
    /// - Throws: Any error; the frame is dropped, and the error is reported.
    func process(_ frame: consuming AudioFrame) throws -> AudioFrame?
}
