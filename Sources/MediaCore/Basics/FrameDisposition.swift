/// The result of handing a frame over.
public enum FrameDisposition: Equatable, Sendable {
    /// The frame was accepted. A newer frame may still evict it if an output is slow.
    case accepted
    /// The frame was not accepted, and is counted under this cause.
    case dropped(DropCause)

    /// Whether the frame was accepted.
    public var isAccepted: Bool { self == .accepted }
}

extension FrameDisposition: CustomStringConvertible {
    /// `accepted`, or `dropped: badSize`
    public var description: String {
        switch self {
        case .accepted: "accepted"
        case .dropped(let cause): "dropped: \(cause)"
        }
    }
}

/// Why a frame was not delivered.
public enum DropCause: String, Hashable, Sendable, CaseIterable {
    /// Evicted by a newer frame, because the receiver of a live stream was slow.
    case evicted
    /// Refused because the receiver's queue was full.
    case queueFull
    /// Delivered before the start or after the stop.
    case notStarted
    /// Pushed while push mode, or this kind of frame, is not enabled.
    case notEnabled
    /// Bytes from a source that declared pixel buffers, or pixel buffers from one that declared
    /// bytes.
    case wrongBufferType
    /// The rows do not fit their stride.
    case badStride
    /// The size is out of range, the bytes are too few, or the crop leaves nothing.
    case badSize
    /// An encoded frame that could not be decoded.
    case undecodable
    /// An encoded frame that refers to one that was refused or is missing. Send a key frame.
    case needsKeyFrame
    /// The frame carries no running time.
    case noTime
    /// The frame's running time is negative.
    case badTime
    /// The frame's running time is before that of the previous frame.
    case backwards
    /// Captured before the receiver's running time zero, or before a recording's first picture.
    case early
    /// Arrived, or reached the display, too long after its running time.
    case late
    /// The receiver does not accept the frame's format, size or layout.
    case badFormat
    /// A processor returned `nil` or threw.
    case processor
    /// The receiver had already ended or failed.
    case closed
    /// The receiver threw an error.
    case failed
    /// Arrived while the recording was paused, or while the track had no receiver.
    case paused
    /// Live media that arrived while there was no connection to the receiver.
    case notConnected
    /// Accepted, then lost inside an output that failed.
    case unwritten
    /// Sent, then lost on its way through a network.
    case lost
    /// Sent to a channel while its track is muted.
    case muted
    /// Dropped to keep to a lower frame rate.
    case frameRate
}

/// Counts the frames that were not delivered, by cause.
public struct DropCounts: Equatable, Sendable {
    private var counts: [DropCause: Int] = [:]

    /// Creates counts that are all zero.
    package init() {}

    /// The number of frames dropped for one cause.
    public subscript(cause: DropCause) -> Int {
        get { counts[cause, default: 0] }
        set { counts[cause] = newValue == 0 ? nil : newValue }
    }

    /// The number of frames dropped for all causes together.
    public var total: Int { counts.values.reduce(0, +) }

    /// Adds the counts of each cause.
    package static func + (a: DropCounts, b: DropCounts) -> DropCounts {
        var sum = a
        for (cause, count) in b.counts { sum[cause] += count }
        return sum
    }
}

extension DropCounts: CustomStringConvertible {
    /// `3 evicted, 1 late`; `none`
    public var description: String {
        let parts = DropCause.allCases.compactMap { cause in
            self[cause] == 0 ? nil : "\(self[cause]) \(cause.rawValue)"
        }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

// MARK: Balance

/// Counts the frames that arrived at one place and their outcome: delivered, dropped by cause, or
/// waiting.
///
/// ``offered`` is the sum of the three at every moment. All counts except ``waiting`` only grow,
/// and they remain readable after the object they describe has ended.
public struct FrameBalance: Equatable, Sendable {
    /// Frames that arrived.
    public var offered: Int
    /// Frames that were passed on, shown or written.
    public var delivered: Int
    /// Frames that were dropped, by cause.
    public var dropped: DropCounts

    /// Creates a balance from counts of frames; all are zero by default.
    package init(offered: Int = 0, delivered: Int = 0, dropped: DropCounts = DropCounts()) {
        self.offered = offered
        self.delivered = delivered
        self.dropped = dropped
    }

    /// Frames without an outcome yet: in a queue, or being processed. Zero once everything has
    /// stopped.
    public var waiting: Int { offered - delivered - dropped.total }

    /// Counts a frame with its outcome, and returns the outcome.
    @discardableResult
    package mutating func count(_ disposition: FrameDisposition) -> FrameDisposition {
        offered += 1
        switch disposition {
        case .accepted: delivered += 1
        case .dropped(let cause): dropped[cause] += 1
        }
        return disposition
    }

    /// Adds the counts of two balances.
    package static func + (a: FrameBalance, b: FrameBalance) -> FrameBalance {
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

/// Counts the packets of media in a network.
public struct PacketCounts: Equatable, Sendable {
    /// Packets sent, or received; retransmitted ones are not included.
    public var packets: Int
    /// Packets that did not arrive in time: as the peer reports when sending, as counted locally when receiving.
    /// One frame is sent in one or more packets.
    public var lost: Int
    /// Packets that were sent again, or arrived only when they were sent again.
    public var resent: Int

    /// Creates counts; all are zero by default.
    package init(packets: Int = 0, lost: Int = 0, resent: Int = 0) {
        (self.packets, self.lost, self.resent) = (packets, lost, resent)
    }

    /// Adds two counts.
    package static func + (a: PacketCounts, b: PacketCounts) -> PacketCounts {
        PacketCounts(
            packets: a.packets + b.packets, lost: a.lost + b.lost, resent: a.resent + b.resent)
    }
}

/// A sink that has its own queue and reports the outcome of the frames in it.
///
/// If a ``VideoSink`` or ``AudioSink`` conforms, the engine that feeds it calls
/// ``frameBalance(of:)``, so that a frame that the sink accepted and lost is not counted as rendered.
package protocol FrameBalanceReporting: Sendable {
    /// Returns the outcome of the frames that `render` accepted, without those for which it threw.
    ///
    /// The counts cover either the run that began with `shouldStart()`, or all runs since the
    /// object was created. Thread: any; returns at once.
    func frameBalance(of kind: MediaKind) -> FrameBalance
}

/// The kind of media: video or audio.
package enum MediaKind: String, Hashable, Sendable, CaseIterable {
    /// Pictures.
    case video
    /// Sound.
    case audio
}
