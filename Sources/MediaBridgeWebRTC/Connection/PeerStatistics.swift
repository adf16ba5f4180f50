internal import BridgeEngine
public import MediaCore

/// The counts of a peer connection.
public struct PeerStatistics: Hashable, Sendable {
    /// The counts of one stream.
    public struct Stream: Hashable, Sendable {
        /// Encoded frames offered to the connection, or received from the peer. Delivered frames
        /// were sent, or passed to the observer.
        public var units = FrameBalance()
        /// Packets sent or received.
        public var packets = 0
        /// Bytes sent or received, without headers.
        public var bytes = 0
        /// Packets lost: as reported by the peer when sending, as counted locally when receiving.
        public var lost = 0
        /// Retransmitted packets, sent or received.
        public var resent = 0
        /// The jitter of the packets' arrival.
        public var jitter = Duration.zero
        /// Keyframe requests, received from the peer or sent to it.
        public var keyFrameRequests = 0

        /// Creates counts of zero.
        public init() {}
    }
    /// The video stream.
    public var video = Stream()
    /// The audio stream.
    public var audio = Stream()
    /// The round-trip time to the peer; `nil` before it is measured.
    public var roundTrip: Duration?
    /// The estimated capacity of the network in bits per second; `nil` before it is estimated.
    public var availableBitRate: Int?

    /// Creates counts of zero.
    public init() {}
}
