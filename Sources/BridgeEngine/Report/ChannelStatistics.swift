public import MediaCore

/// The counts of frames sent and received by one user of a channel, and their outcomes.
public struct ChannelStatistics: Hashable, Sendable {
    /// Frames from one user to another. `sent` is the sum of the other counts and ``waiting``.
    public struct Frames: Hashable, Sendable {
        /// Frames queued for the receiver.
        public var sent = 0
        /// Frames handed to the receiver.
        public var delivered = 0
        /// Frames evicted by newer ones because the receiver was slow.
        public var evicted = 0
        /// Frames not delivered because the receiver left, or because the track ended while they
        /// were in transit.
        public var closed = 0
        /// Frames lost in transit.
        public var lost = 0
        /// Encoded units that arrived but refer to a unit that did not.
        public var needingKeyFrame = 0

        /// Frames that are in transit or in the receiver's queue.
        public var waiting: Int {
            sent - delivered - evicted - closed - lost - needingKeyFrame
        }

        /// Creates counts of zero.
        public init() {}

        /// The same counts as a balance: sent frames are offered, and all that were not delivered are
        /// dropped.
        public var balance: FrameBalance {
            var drops = DropCounts()
            (drops[.evicted], drops[.closed], drops[.lost]) = (evicted, closed, lost)
            drops[.needsKeyFrame] = needingKeyFrame
            return FrameBalance(offered: sent, delivered: delivered, dropped: drops)
        }
    }

    /// Video frames that the user sent. Each is counted once, regardless of the number of
    /// receivers.
    public var sent = 0
    /// Video frames from this user to all users that were ever in the channel.
    public var outgoing = Frames()
    /// Video frames from all users that were ever in the channel to this user.
    public var incoming = Frames()
    /// Audio frames from this user to all users that were ever in the channel.
    public var outgoingAudio = Frames()
    /// Audio frames from all users that were ever in the channel to this user.
    public var incomingAudio = Frames()
    /// Video frames from this user to each user in the channel now.
    public var to: [UserID: Frames] = [:]
    /// Video frames from each user in the channel now to this user.
    public var from: [UserID: Frames] = [:]
    /// The jitter of the video of each user in the channel now, if the channel measures it: the
    /// mean deviation of the transit time of frames (RFC 3550, section 6.4.1).
    public var jitter: [UserID: Duration] = [:]
    /// The jitter of the audio of each user in the channel now; otherwise as ``jitter``.
    public var audioJitter: [UserID: Duration] = [:]

    /// Creates counts of zero.
    public init() {}
}
