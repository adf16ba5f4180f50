/// A step between capture and outputs: reads a frame, changes it in place, or replaces it.
///
/// Called on one thread at a time, in the order of the frames. May take as long as a frame lasts; what
/// takes longer makes a live capture drop its oldest frames, and a file wait. It need not be Sendable for an
/// engine, which alone calls it; a ``BridgePlan``, whose streams share its processors, takes those that are.
///
/// `consuming` may be left out where a type conforms. With it the frame is the processor's alone, and writing
/// to its picture copies nothing.
public protocol VideoProcessor {
    /// - Returns: The frame to pass on; `nil` drops it, which is counted.
    /// - Throws: Ends the bridge with this error; what was recorded is finished first.
    func process(_ frame: consuming VideoFrame) throws -> VideoFrame?
}
