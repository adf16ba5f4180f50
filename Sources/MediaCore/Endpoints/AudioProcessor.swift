/// A step between a source of sound and its receivers: reads a frame, changes it in place, or replaces it.
///
/// Called one frame at a time, in the order of the frames; it need not be Sendable. The twin of
/// ``VideoProcessor``.
public protocol AudioProcessor {
    /// - Returns: The frame to pass on; `nil` drops it, which is counted.
    /// - Throws: Drops the frame, and is told.
    func process(_ frame: consuming AudioFrame) throws -> AudioFrame?
}
