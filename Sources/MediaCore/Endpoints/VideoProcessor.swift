/// Processes video between capture and outputs: reads a frame, changes it in place, or replaces it.
///
/// Called on one thread at a time, in the order of the frames. A call may take as long as the
/// frame's duration; if it takes longer, a live capture drops its oldest frames and a file waits.
/// For an engine a processor need not be Sendable, because only the engine calls it; a
/// ``BridgePlan``, whose streams share its processors, accepts only processors that are.
///
/// A conforming type may omit `consuming`. With it the processor holds the only reference to the
/// frame, and writing to its picture copies nothing.
public protocol VideoProcessor {
    /// Processes one frame.
    ///
    /// - Returns: The frame to pass on; `nil` drops the frame, which is counted.
    /// - Throws: In a bridge, ends the bridge with this error after completing the recordings. In
    ///   an engine, drops the frame and reports the error.
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame?
}
