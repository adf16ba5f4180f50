/// Counts the frames that arrived at one place and their outcome: delivered, dropped by cause, or
/// waiting.
///
/// ``offered`` is the sum of the three at every moment. All counts except ``waiting`` only grow,
/// and they remain readable after the object they describe has ended.
public struct FrameBalance: Hashable, Sendable {
    /// Frames that arrived.
    public var offered: Int
    /// Frames that were passed on, shown or written.
    public var delivered: Int
    /// Frames that were dropped, by cause.
    public var dropped: DropCounts

    /// Creates a balance from counts of frames; all are zero by default.
    public init(offered: Int = 0, delivered: Int = 0, dropped: DropCounts = DropCounts()) {
        self.offered = offered
        self.delivered = delivered
        self.dropped = dropped
    }

    /// Frames without an outcome yet: in a queue, or being processed. Zero once everything has
    /// stopped.
    public var waiting: Int { offered - delivered - dropped.total }

    /// Whether no frame was counted twice. `false` indicates a defect in the code that counted.
    public var isBalanced: Bool {
        waiting >= 0 && delivered >= 0 && DropCause.allCases.allSatisfy { dropped[$0] >= 0 }
    }

    /// Adds the counts of two balances.
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

/// A sink that has its own queue and reports the outcome of the frames in it.
///
/// If a ``VideoSink`` or ``AudioSink`` conforms, the engine that feeds it calls
/// ``frameBalance(of:)``, so that a frame that the sink accepted and lost is not counted as rendered.
public protocol FrameBalanceReporting: Sendable {
    /// Returns the outcome of the frames that `render` accepted, without those for which it threw.
    ///
    /// The counts cover either the run that began with `shouldStart()`, or all runs since the
    /// object was created. Thread: any; returns at once.
    func frameBalance(of kind: MediaKind) -> FrameBalance
}

/// The kind of media: video or audio.
public enum MediaKind: String, Hashable, Sendable {
    /// Pictures.
    case video
    /// Sound.
    case audio
}
