internal import BridgeEngine
public import MediaCore

/// The counts of a peer connection.
public struct PeerStatistics: Hashable, Sendable {
    /// The counts of one stream.
    public struct Stream: Hashable, Sendable {
        /// Units offered to the connection, or received from the peer; delivered are those that were sent, or
        /// handed to the observer.
        public var units = FrameBalance()
        /// Packets sent or received.
        public var packets = 0
        /// Bytes sent or received, without headers.
        public var bytes = 0
        /// Packets lost: of the sender's as the peer reports, or of the receiver's own count.
        public var lost = 0
        /// Packets that were sent again, or came again on request.
        public var resent = 0
        /// The jitter of the packets' arrival.
        public var jitter = Duration.zero
        /// Key frames that the peer asked for, or that were asked of it.
        public var keyFrameRequests = 0

        /// Creates counts of zero.
        public init() {}
    }
    /// The video stream.
    public var video = Stream()
    /// The audio stream.
    public var audio = Stream()
    /// The time to the peer and back; `nil` before it is measured.
    public var roundTrip: Duration?
    /// Bits per second that the network carries; `nil` before it is estimated.
    public var availableBitRate: Int?

    /// Creates counts of zero.
    public init() {}
}
