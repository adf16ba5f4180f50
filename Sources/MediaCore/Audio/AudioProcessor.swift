/// A step between a source of sound and its receivers: reads a frame, changes it in place, or replaces it.
///
/// Called on one thread at a time, in the order of the frames. The twin of ``VideoProcessor``.
public protocol AudioProcessor: Sendable {
    /// - Returns: The frame to pass on; `nil` drops it, which is counted.
    /// - Throws: Drops the frame, and is told.
    func process(_ frame: consuming AudioFrame) throws -> AudioFrame?
}
