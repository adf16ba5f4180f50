internal import BridgeEngine
package import MediaCore

/// A stream that both sides have agreed on.
package struct PeerStream: Hashable, Sendable {
    /// Its codec.
    package enum Codec: Hashable, Sendable {
        case video(EncodedVideoFrame.Codec)
        case audio(EncodedAudioFrame.Codec)
    }
    /// The codec.
    package var codec: Codec
    /// The payload type of its packets.
    package var payload: Int
    /// The payload type of packets that are sent again; `nil` if none are.
    package var resendPayload: Int?
    /// The place of its m-line in the peer's description.
    package var line: Int
    /// The number of the header extension with a transport-wide number; `nil` if the peer has none.
    var transportNumbers: Int?
    /// Whether the peer estimates what the network carries (REMB).
    var estimatesBitRate = false
    /// Whether the peer finds a lost packet in the next one (RFC 7587, `useinbandfec`).
    var usesInbandFEC = false

    /// Whether it is video.
    package var isVideo: Bool { if case .video = codec { true } else { false } }
}

/// The encodings of RTP.
enum PayloadEncoding {
    static func name(of codec: PeerStream.Codec) -> String? {
        switch codec {
        case .video(.h264): "H264"
        case .video(.vp8): "VP8"
        case .audio(.opus): "OPUS"
        case .audio(.alaw): "PCMA"
        case .audio(.mulaw): "PCMU"
        default: nil
        }
    }

    static func clockRate(of codec: PeerStream.Codec) -> Int {
        switch codec {
        case .video: 90_000
        case .audio(.opus): 48_000
        case .audio: 8_000
        }
    }

    /// The payload type in offers of this side. That of packets that are sent again is 96, which webrtcbin takes
    /// as the first one that is free: Janus (1.1.2) remembers it of earlier offers, and leaves what has it out of
    /// later ones.
    static func offered(_ codec: PeerStream.Codec) -> Int {
        switch codec {
        case .video(.h264): 102
        case .video: 98
        case .audio(.alaw): 8
        case .audio(.mulaw): 0
        case .audio: 111
        }
    }
}

extension SessionDescription {
    /// Chooses the first stream of a kind for which both sides have a codec.
    ///
    /// - Parameters:
    ///   - codecs: What this side has, the preferred one first.
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
                guard let format = Self.format(of: codec, in: payloads) else { continue }
                return PeerStream(
                    codec: codec, payload: format.number,
                    resendPayload: payloads.first { $0.resends == format.number }?.number,
                    line: line, transportNumbers: Self.transportNumbers(section),
                    estimatesBitRate: format.feedback.contains("goog-remb"),
                    usesInbandFEC: format.parameters["useinbandfec"] == "1")
            }
        }
        return nil
    }

    /// Of H.264, constrained baseline in several packets a picture comes first: every receiver decodes
    /// it, and every sender of it decodes other profiles, too.
    private static func format(
        of codec: PeerStream.Codec, in payloads: [PayloadFormat]
    ) -> PayloadFormat? {
        let name = PayloadEncoding.name(of: codec)
        let rate = PayloadEncoding.clockRate(of: codec)
        let alike = payloads.filter { $0.encoding == name && $0.clockRate == rate }
        guard codec == .video(.h264) else { return alike.first }
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
