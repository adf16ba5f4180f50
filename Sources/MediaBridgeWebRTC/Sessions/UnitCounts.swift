internal import BridgeEngine
internal import MediaCore

/// Counts the units of one stream, from one place to another.
struct UnitCounts: Sendable {
    var frames = ChannelStatistics.Frames()

    /// Units that wait for their receiver at most: the next ones are refused, because those that wait are
    /// needed for those that follow.
    static let (videoDepth, audioDepth) = (64, 100)
}

extension ChannelStatistics.Frames {
    /// The counts of a connection, and of what was not even offered to it.
    ///
    /// - Parameters:
    ///   - units: What became of the units that were offered to the connection.
    ///   - withheld: Units that were of no use without a key frame.
    ///   - isOver: Whether the connection is closed: what waits in it is not sent any more.
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
