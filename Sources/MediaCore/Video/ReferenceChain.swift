/// Tracks whether the units that an encoded unit depends on were decoded. If one is missing, a
/// decoder produces wrong pictures without an error, or fails, until a key frame comes.
///
/// A new chain is broken: it begins with a key frame.
package struct ReferenceChain: Sendable {
    private var isBroken = true
    private var isTold = false

    package init() {}

    /// Returns whether a unit may be decoded. A key frame closes the chain.
    package mutating func admits(_ references: EncodedVideoFrameReferences) -> Bool {
        if references == .none { (isBroken, isTold) = (false, false) }
        return !isBroken || references == .noPicture
    }

    /// Records that a unit is missing.
    ///
    /// - Returns: Whether that is to be reported: false until a key frame has come, once it was
    ///   reported.
    package mutating func lose() -> Bool {
        defer { (isBroken, isTold) = (true, true) }
        return !isTold
    }
}
