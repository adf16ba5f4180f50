public import MediaCore

extension PeerConnection {
    /// Which way media goes.
    public enum Role: Sendable {
        /// Units are sent: ``send(_:)-(EncodedVideoFrame)``.
        case sender
        /// Units are received: ``PeerConnectionObserver/receive(_:)-(EncodedVideoFrame)``.
        case receiver
    }

    /// The media of a connection.
    public struct Media: Hashable, Sendable {
        /// The codecs of video, the preferred one first: H.264 and VP8. None: no video.
        public var video: [EncodedVideoFrame.Codec]
        /// The codecs of audio, the preferred one first: Opus, A-law and µ-law. None: no audio.
        public var audio: [EncodedAudioFrame.Codec]
        /// Whether an offer has a data channel for messages. An answer accepts one in any case. Default false.
        public var hasMessages = false

        /// Creates media of the codecs, by default H.264 before VP8, and Opus.
        public init(
            video: [EncodedVideoFrame.Codec] = [.h264, .vp8],
            audio: [EncodedAudioFrame.Codec] = [.opus]
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
        /// Whether media goes through a TURN server alone. Default false.
        public var isRelayOnly = false
        /// The addresses of this machine at which the peer can reach it. Default none: all but loopback
        /// addresses.
        public var localAddresses: [String] = []
        /// How long a receiver waits for packets that are late or sent again. Default 100 ms.
        public var jitterBuffer = Duration.milliseconds(100)
        /// How long gathering the candidates of an answer may take; what is found later is left out.
        /// Default 500 ms. Where media goes through a TURN server alone, up to 5 s.
        public var gatheringTimeout = Duration.milliseconds(500)
        /// How long the peer may take from the description to the connection. Default 15 s.
        public var connectTimeout = Duration.seconds(15).asDefaultDeadline
        /// The most bits per second of video to send; where the network has less, less. Default: any.
        public var bitRate: Int?
        /// Whether the peer is a Janus, which reads reports in a way of its own: ``ReportForJanus``.
        package var isPeerJanus = false

        /// Creates a configuration with the default values.
        public init() {}
    }

    /// The state of a connection.
    public enum State: Hashable, Sendable {
        /// No description was exchanged yet.
        case new
        /// The peer is being reached.
        case connecting
        /// Media flows.
        case connected
        /// Nothing has come from the peer for a while; it may come back.
        case interrupted
        /// The connection is over, and why.
        case failed(PeerError)
        /// The connection was closed, by either side.
        case closed
    }

    /// A way to reach a peer.
    public struct Candidate: Hashable, Sendable {
        /// The text after `a=` in a session description: `candidate:1 1 UDP …`.
        public var text: String
        /// The m-line that it belongs to, by its `a=mid`; `nil` if only the number is known.
        public var mid: String?
        /// The m-line's number, from zero.
        public var line: Int

        /// Creates a candidate.
        public init(_ text: String, mid: String? = nil, line: Int = 0) {
            self.text = text
            self.mid = mid
            self.line = line
        }
    }
}
