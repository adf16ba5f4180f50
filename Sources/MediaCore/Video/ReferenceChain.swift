/// Tracks whether the frames that an encoded frame depends on were decoded. If one is missing, a
/// decoder produces wrong pictures without an error, or fails, until a key frame comes.
package struct ReferenceChain: Sendable {
    /// The maximum number of encoded video frames that wait for one receiver: two seconds of most
    /// streams, because a frame too many costs all frames up to the next key frame.
    package static let maximumWaiting = 64

    private var isBroken: Bool
    private var isReported = false

    /// - Parameter isBroken: Whether the chain begins with a key frame.
    package init(isBroken: Bool = true) { self.isBroken = isBroken }

    /// Returns whether an encoded frame may be decoded. A key frame closes the chain.
    package mutating func admits(_ references: EncodedVideoFrameReferences) -> Bool {
        if references == .none { (isBroken, isReported) = (false, false) }
        return !isBroken || references == .noPicture
    }

    /// Returns why a receiver's queue does not take an encoded frame; `nil` if it does. A queue that is
    /// full refuses the frame and keeps the waiting ones, because later frames refer to them.
    ///
    /// - Parameter waiting: The number of encoded frames that wait for the receiver.
    package mutating func refusal(
        of references: EncodedVideoFrameReferences, waiting: Int
    ) -> DropCause? {
        guard admits(references) else { return .needsKeyFrame }
        guard waiting < Self.maximumWaiting else {
            _ = lose()
            return .evicted
        }
        return nil
    }

    /// Records that an encoded frame is missing.
    ///
    /// - Returns: Whether that is to be reported: false until a key frame has come, once it was
    ///   reported.
    package mutating func lose() -> Bool {
        defer { (isBroken, isReported) = (true, true) }
        return !isReported
    }
}
