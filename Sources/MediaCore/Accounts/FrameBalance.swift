/// What became of the frames that came to one place: each was delivered, was dropped for a cause, or waits.
///
/// ``offered`` is the sum of the three, at every moment. Counts only grow, apart from ``waiting``, and stay
/// when the object they are about is gone.
public struct FrameBalance: Hashable, Sendable {
    /// Frames that came.
    public var offered: Int
    /// Frames that went on, or were shown or written.
    public var delivered: Int
    /// Frames lost, by cause.
    public var dropped: DropCounts

    public init(offered: Int = 0, delivered: Int = 0, dropped: DropCounts = DropCounts()) {
        self.offered = offered
        self.delivered = delivered
        self.dropped = dropped
    }

    /// Frames whose fate is open: in a queue, or in somebody's hand. Zero once everything has stopped.
    public var waiting: Int { offered - delivered - dropped.total }

    /// Whether no frame was counted twice. False is a defect of whoever counted.
    public var isBalanced: Bool {
        waiting >= 0 && delivered >= 0 && DropCause.allCases.allSatisfy { dropped[$0] >= 0 }
    }

    public static func + (a: FrameBalance, b: FrameBalance) -> FrameBalance {
        FrameBalance(
            offered: a.offered + b.offered, delivered: a.delivered + b.delivered,
            dropped: a.dropped + b.dropped)
    }
}

extension FrameBalance: CustomStringConvertible {
    /// `60 offered, 20 delivered, 36 evicted, 4 waiting`
    public var description: String {
        var parts = ["\(offered) offered", "\(delivered) delivered"]
        if dropped.total != 0 { parts.append("\(dropped)") }
        if waiting != 0 { parts.append("\(waiting) waiting") }
        return parts.joined(separator: ", ")
    }
}

/// A sink that has a queue of its own, and knows what became of the frames in it.
///
/// A ``VideoSink`` or ``AudioSink`` that conforms is asked by the engine that feeds it, so that a frame that
/// the sink took and lost is not counted as rendered.
public protocol FrameBalanceReporting: Sendable {
    /// What became of the frames that `render` took, without those it threw for: of the run that began with
    /// `shouldStart()`, or of all runs since the object was made. Thread: any; returns at once.
    func takenFrames(_ kind: MediaKind) -> FrameBalance
}

/// Pictures or sound.
public enum MediaKind: String, Hashable, Sendable {
    case video
    case audio
}
