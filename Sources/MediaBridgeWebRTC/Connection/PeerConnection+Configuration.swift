public import MediaCore

extension PeerConnection {
    /// The direction of the media.
    public enum Role: Sendable {
        /// Sends encoded frames: ``send(_:)-(EncodedVideoFrame)``.
        case sender
        /// Receives encoded frames: ``PeerConnectionObserver/receive(_:)-(EncodedVideoFrame)``.
        case receiver
    }

    /// The media of a connection.
    public struct Media: Hashable, Sendable {
        /// The video codecs in order of preference: H.264 and VP8. Empty: no video.
        public var video: [VideoCodec]
        /// The audio codecs in order of preference: Opus, A-law and µ-law. Empty: no audio.
        public var audio: [AudioCodec]
        /// Whether an offer has a data channel for messages. An answer accepts one in any case. Default false.
        public var hasMessages = false

        /// Creates media with the given codecs. Default: H.264 before VP8, and Opus.
        public init(
            video: [VideoCodec] = [.h264, .vp8],
            audio: [AudioCodec] = [.opus]
        ) {
            self.video = video
            self.audio = audio
        }
    }

    /// How a connection reaches its peer.
    public struct Configuration: Hashable, Sendable {
        /// STUN and TURN servers: `stun://HOST:PORT`, `turn://USER:PASSWORD@HOST:PORT?transport=udp` (or
        /// `tcp`), `turns://…`, user and password percent-escaped. Default: none.
        public var servers: [String] = []
        /// Whether media goes only through a TURN server. Default false.
        public var isRelayOnly = false
        /// The addresses of this machine that the peer can reach. Default none: all except loopback
        /// addresses.
        public var localAddresses: [String] = []
        /// How long a receiver waits for late or retransmitted packets. Default 100 ms.
        public var jitterBuffer = Duration.milliseconds(100)
        /// The timeout for gathering the candidates of an answer; later candidates are not
        /// included. Default 500 ms. If media goes only through a TURN server, up to 5 s.
        public var gatheringTimeout = Duration.milliseconds(500)
        /// The timeout from the description to the established connection. Default 15 s.
        public var connectTimeout = Duration.seconds(15).asDefaultDeadline
        /// The maximum bit rate of sent video, in bits per second; a slower network reduces it
        /// further. Default: unlimited.
        public var bitRate: Int?
        /// Whether the peer is a Janus server, which interprets receiver reports differently:
        /// ``ReportForJanus``.
        package var isPeerJanus = false

        /// Creates a configuration with the default values.
        public init() {}
    }

    /// The state of a connection.
    public enum State: Hashable, Sendable {
        /// No description has been exchanged yet.
        case new
        /// The connection is being established.
        case connecting
        /// Media flows.
        case connected
        /// The peer has been silent for a while; the connection may recover.
        case interrupted
        /// The connection has failed.
        case failed(PeerError)
        /// The connection was closed, by either side.
        case closed
    }

    /// An ICE candidate.
    public struct Candidate: Hashable, Sendable {
        /// The text after `a=` in a session description: `candidate:1 1 UDP …`.
        public var text: String
        /// The `a=mid` of the candidate's m-line; `nil` if only the number is known.
        public var mid: String?
        /// The number of the m-line, from zero.
        public var line: Int

        /// Creates a candidate.
        public init(_ text: String, mid: String? = nil, line: Int = 0) {
            self.text = text
            self.mid = mid
            self.line = line
        }
    }
}
