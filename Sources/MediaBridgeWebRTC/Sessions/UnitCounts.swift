internal import BridgeEngine
internal import MediaCore

/// Counts the encoded frames of one stream between two points.
struct UnitCounts: Sendable {
    var frames = ChannelStatistics.Frames()

    /// The maximum number of frames that wait for their receiver. Further frames are refused; the
    /// waiting ones are kept, because later frames depend on them.
    static let (videoDepth, audioDepth) = (64, 100)
}

extension ChannelStatistics.Frames {
    /// Creates the counts of a connection, including the frames that were not offered to it.
    ///
    /// - Parameters:
    ///   - units: The outcomes of the frames that were offered to the connection.
    ///   - withheld: Frames that were withheld because a keyframe was missing.
    ///   - isOver: Whether the connection is closed: its waiting frames will not be sent.
    init(_ units: FrameBalance, withheld: Int, isOver: Bool) {
        self.init()
        let drops = units.dropped
        sent = units.offered + withheld
        delivered = units.delivered
        evicted = drops[.evicted] + drops[.queueFull]
        lost = drops[.lost]
        needingKeyFrame = drops[.needsKeyFrame] + withheld
        closed =
            drops.total - drops[.evicted] - drops[.queueFull] - drops[.lost]
            - drops[.needsKeyFrame]
        if isOver { closed += max(0, units.waiting) }
    }

    static func + (a: Self, b: Self) -> Self {
        var sum = a
        sum.sent += b.sent
        sum.delivered += b.delivered
        sum.evicted += b.evicted
        sum.closed += b.closed
        sum.lost += b.lost
        sum.needingKeyFrame += b.needingKeyFrame
        return sum
    }
}
