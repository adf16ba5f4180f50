internal import BridgeEngine
package import MediaCore

/// A stream that both sides have agreed on.
package struct PeerStream: Hashable, Sendable {
    /// The codec of a stream.
    package enum Codec: Hashable, Sendable {
        case video(VideoCodec)
        case audio(AudioCodec)

        /// Video or audio.
        var kind: MediaKind { video == nil ? .audio : .video }
        /// The codec of video; `nil` for audio.
        var video: VideoCodec? { if case .video(let codec) = self { codec } else { nil } }
        /// The codec of audio; `nil` for video.
        var audio: AudioCodec? { if case .audio(let codec) = self { codec } else { nil } }

        /// The codec's name: `h264`.
        var name: String {
            switch self {
            case .video(let codec): codec.rawValue
            case .audio(let codec): codec.rawValue
            }
        }

        /// A name for the codec in element names.
        var label: String { "\(kind.rawValue)-\(name)" }
    }
    /// The RTP payload format.
    let encoding: PayloadEncoding
    /// The codec.
    package var codec: Codec { encoding.codec }
    /// The payload type of its packets.
    package var payload: Int
    /// The payload type of retransmitted packets; `nil` without retransmission.
    package var resendPayload: Int?
    /// The index of its m-line in the peer's description.
    package var line: Int
    /// The ID of the header extension for transport-wide sequence numbers; `nil` if the peer has none.
    var transportNumbers: Int?
    /// Whether the peer estimates the capacity of the network (REMB).
    var estimatesBitRate = false
    /// Whether the peer restores a lost packet from the next one (RFC 7587, `useinbandfec`).
    var usesInbandFEC = false

    /// Whether it is video.
    package var isVideo: Bool { codec.kind == .video }
}

/// How RTP carries a codec, and the elements for it: a row for each codec that connections have.
struct PayloadEncoding: Hashable, Sendable {
    let codec: PeerStream.Codec
    /// The name in messages.
    let label: String
    /// The name in descriptions.
    let name: String
    let clockRate: Int
    /// The number of channels, if a description states it.
    var channels: Int?
    /// The payload type in offers of this side. It must not be 96, the first free type, which webrtcbin chooses
    /// for retransmitted packets. Janus 1.1.2 remembers that type from earlier offers, and omits streams with the
    /// same type from later ones.
    let offered: Int
    /// The elements up to the payloader, whose other properties the caller appends.
    let payloader: String
    /// The depayloader, whose name the caller appends.
    let depayloader: String
    /// The properties of the depayloader, and the elements behind it.
    var depayloaderTail = ""
    /// Elements that decode.
    let decoder: String

    private static let rows: [PayloadEncoding] = {
        let access =
            "h264parse config-interval=-1 ! "
            + "video/x-h264,stream-format=byte-stream,alignment=au"
        let keyFrames = "request-keyframe=true wait-for-keyframe=true"
        return [
            PayloadEncoding(
                codec: .video(.h264), label: "H.264", name: "H264", clockRate: 90_000, offered: 102,
                // The parser inserts parameter sets before each keyframe. The payloader would insert
                // them before each of its slices, which receivers mistake for frames.
                payloader: access + " ! rtph264pay config-interval=0 aggregate-mode=zero-latency",
                depayloader: "rtph264depay", depayloaderTail: "\(keyFrames) ! \(access)",
                decoder: "h264parse ! avdec_h264 max-threads=1"),
            PayloadEncoding(
                codec: .video(.vp8), label: "VP8", name: "VP8", clockRate: 90_000, offered: 98,
                payloader: "rtpvp8pay picture-id-mode=15-bit", depayloader: "rtpvp8depay",
                depayloaderTail: keyFrames, decoder: "vp8dec"),
            PayloadEncoding(
                codec: .audio(.opus), label: "Opus", name: "OPUS", clockRate: 48_000, channels: 2,
                offered: 111, payloader: "rtpopuspay", depayloader: "rtpopusdepay",
                decoder: "opusdec plc=true"),
            PayloadEncoding(
                codec: .audio(.alaw), label: "A-law", name: "PCMA", clockRate: 8_000, offered: 8,
                payloader: "rtppcmapay", depayloader: "rtppcmadepay", decoder: "alawdec"),
            PayloadEncoding(
                codec: .audio(.mulaw), label: "µ-law", name: "PCMU", clockRate: 8_000, offered: 0,
                payloader: "rtppcmupay", depayloader: "rtppcmudepay", decoder: "mulawdec"),
        ]
    }()

    /// Returns the row of a codec; `nil` for a codec that connections do not have.
    static func of(_ codec: PeerStream.Codec) -> PayloadEncoding? {
        rows.first { $0.codec == codec }
    }
}

extension Set<VideoCodec> {
    /// The names in messages, in alphabetical order.
    package var labels: [String] {
        map { PayloadEncoding.of(.video($0))?.label ?? $0.rawValue }.sorted()
    }
}

extension SessionDescription {
    /// Chooses the first stream of a kind for which both sides have a codec.
    ///
    /// - Parameters:
    ///   - codecs: The codecs of this side, in order of preference.
    ///   - kind: Video or audio.
    ///   - isSending: Whether this side sends; otherwise it receives.
    func stream(
        of codecs: [PeerStream.Codec], _ kind: MediaSection.Kind, isSending: Bool
    ) -> PeerStream? {
        for (line, section) in media.enumerated() where section.kind == kind {
            guard isSending ? section.isReceiving : section.isSending, section.mid != nil else {
                continue
            }
            let payloads = section.payloads
            for codec in codecs {
                guard let encoding = PayloadEncoding.of(codec),
                    let format = Self.format(of: encoding, in: payloads)
                else { continue }
                return PeerStream(
                    encoding: encoding, payload: format.number,
                    resendPayload: payloads.first { $0.resends == format.number }?.number,
                    line: line, transportNumbers: Self.transportNumbers(section),
                    estimatesBitRate: format.feedback.contains("goog-remb"),
                    usesInbandFEC: format.parameters["useinbandfec"] == "1")
            }
        }
        return nil
    }

    /// Returns the preferred payload type of an encoding. For H.264, this is constrained baseline with
    /// several packets per picture: every receiver decodes it, and its senders also decode other profiles.
    private static func format(
        of encoding: PayloadEncoding, in payloads: [PayloadFormat]
    ) -> PayloadFormat? {
        let alike = payloads.filter {
            $0.encoding == encoding.name && $0.clockRate == encoding.clockRate
        }
        guard encoding.codec == .video(.h264) else { return alike.first }
        let inPackets = alike.filter { $0.parameters["packetization-mode"] == "1" }
        for profile in ["42e0", "4200", "4d00", "64"] {
            let found = inPackets.first {
                ($0.parameters["profile-level-id"] ?? "42e0").lowercased().hasPrefix(profile)
            }
            if let found { return found }
        }
        return inPackets.first
    }

    static let transportNumbersURI =
        "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

    private static func transportNumbers(_ section: MediaSection) -> Int? {
        for value in section.values(of: "extmap") {
            let words = value.split(separator: " ")
            guard words.count >= 2, words[1] == transportNumbersURI,
                let number = Int(words[0].prefix { $0 != "/" }), (1...14).contains(number)
            else { continue }
            return number
        }
        return nil
    }
}
