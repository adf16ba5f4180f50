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
