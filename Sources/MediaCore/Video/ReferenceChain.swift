/// Tracks whether the units that an encoded frame depends on were decoded. If one is missing, a
/// decoder produces wrong pictures without an error, or fails, until a key frame comes.
package struct ReferenceChain: Sendable {
    /// The maximum number of units of video that wait for one receiver: two seconds of most streams,
    /// because a unit too many costs all units up to the next key frame.
    package static let maximumWaiting = 64

    private var isBroken: Bool
    private var isReported = false

    /// - Parameter isBroken: Whether the chain begins with a key frame.
    package init(isBroken: Bool = true) { self.isBroken = isBroken }

    /// Returns whether a unit may be decoded. A key frame closes the chain.
    package mutating func admits(_ references: EncodedVideoFrameReferences) -> Bool {
        if references == .none { (isBroken, isReported) = (false, false) }
        return !isBroken || references == .noPicture
    }

    /// Returns why a receiver's queue does not take a unit; `nil` if it does. A queue that is full refuses
    /// the unit and keeps the waiting ones, because later units refer to them.
    ///
    /// - Parameter waiting: The number of units that wait for the receiver.
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

    /// Records that a unit is missing.
    ///
    /// - Returns: Whether that is to be reported: false until a key frame has come, once it was
    ///   reported.
    package mutating func lose() -> Bool {
        defer { (isBroken, isReported) = (true, true) }
        return !isReported
    }
}
