public import MediaCore

/// How many frames went to and from a user of a channel, and what became of them.
public struct ChannelStatistics: Hashable, Sendable {
    /// Frames on the way from one user to another. `sent` is the sum of the others and ``waiting``.
    public struct Frames: Hashable, Sendable {
        /// Put before the receiver.
        public var sent = 0
        /// Handed to the receiver.
        public var delivered = 0
        /// Given way to newer ones, because the receiver was slow.
        public var evicted = 0
        /// Not delivered, because the receiver left.
        public var closed = 0

        /// Still before the receiver.
        public var waiting: Int { sent - delivered - evicted - closed }

        public init() {}

        public var balance: FrameBalance {
            var drops = DropCounts()
            (drops[.evicted], drops[.closed]) = (evicted, closed)
            return FrameBalance(offered: sent, delivered: delivered, dropped: drops)
        }
    }

    /// Frames that the user sent, each once, whoever was there to receive it.
    public var sent = 0
    /// From this user to all who were ever there.
    public var outgoing = Frames()
    /// From all who were ever there to this user.
    public var incoming = Frames()
    /// Pieces of sound from this user, and to him; the sums over all who were ever there.
    public var outgoingAudio = Frames()
    public var incomingAudio = Frames()
    /// From this user to each who is there now.
    public var to: [UserID: Frames] = [:]
    /// From each who is there now to this user.
    public var from: [UserID: Frames] = [:]

    public init() {}
}
