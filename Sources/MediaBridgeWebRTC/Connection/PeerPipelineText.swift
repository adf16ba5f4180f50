internal import MediaCore

/// The gst-launch string of one peer connection.
struct PeerPipelineText {
    /// The names of elements in the string.
    static let bin = "peer"
    static func source(_ kind: MediaKind) -> String { "\(kind.rawValue)-units" }
    static func payloader(_ kind: MediaKind) -> String { "\(kind.rawValue)-payloader" }
    static func depayloader(_ codec: PeerStream.Codec) -> String { "\(codec.label)-depayloader" }
    static func sink(_ codec: PeerStream.Codec) -> String { "\(codec.label)-units" }

    /// The maximum packet size in bytes, which fits through every tunnel.
    private static let packetSize = 1200

    /// Returns the string of a sending connection.
    ///
    /// - Parameter sources: The source number (SSRC) of each stream. The caps include it, because
    ///   no media has flowed when the description is made, and a browser shows nothing without it.
    static func sending(_ streams: [PeerStream], sources: [UInt32]) -> String {
        var text = "webrtcbin name=\(bin) bundle-policy=max-bundle latency=0 "
        for (stream, source) in zip(streams, sources) {
            let kind = stream.codec.kind
            text += "appsrc name=\(Self.source(kind)) is-live=true format=time ! "
            text += stream.encoding.payloader
            text +=
                " name=\(payloader(kind)) pt=\(stream.payload) ssrc=\(source) mtu=\(packetSize) ! "
            text += "\(caps(of: stream)),ssrc=(uint)\(source) ! \(bin). "
        }
        return text
    }

    /// Returns the string of a receiving connection. A pad is linked to the depayloader of its
    /// encoding when the pad appears.
    static func receiving(_ encodings: [PayloadEncoding], latency: Int) -> String {
        var text = "webrtcbin name=\(bin) bundle-policy=max-bundle latency=\(latency) "
        for encoding in encodings {
            let name = depayloader(encoding.codec)
            text += "\(encoding.depayloader) name=\(name) \(encoding.depayloaderTail) ! "
            text += "appsink name=\(sink(encoding.codec)) sync=false async=false "
        }
        return text
    }

    /// Returns the caps of a stream's packets.
    static func caps(of stream: PeerStream) -> String {
        var text =
            "application/x-rtp,media=\(stream.codec.kind.rawValue),"
            + "encoding-name=\(stream.encoding.name),"
            + "clock-rate=\(stream.encoding.clockRate),payload=\(stream.payload)"
        if let channels = stream.encoding.channels {
            text += ",encoding-params=(string)\(channels)"
        }
        guard stream.isVideo else { return text }
        // No full intra requests (FIR): if both are possible, GStreamer requests keyframes only by
        // FIR. Janus ignores them, so a loss would freeze the picture permanently.
        text += ",rtcp-fb-nack=(boolean)true,rtcp-fb-nack-pli=(boolean)true"
        if stream.estimatesBitRate { text += ",rtcp-fb-goog-remb=(boolean)true" }
        if let number = stream.transportNumbers {
            text +=
                ",rtcp-fb-transport-cc=(boolean)true"
                + ",extmap-\(number)=(string)\(SessionDescription.transportNumbersURI)"
        }
        return text
    }
}

extension PeerStream.Codec {
    /// Video or audio.
    var kind: MediaKind { if case .video = self { .video } else { .audio } }

    /// The codec's name: `h264`.
    var name: String {
        switch self {
        case .video(let codec): codec.rawValue
        case .audio(let codec): codec.rawValue
        }
    }

    /// A name for the codec in element names.
    var label: String {
        switch self {
        case .video(let codec): "video-\(codec)"
        case .audio(let codec): "audio-\(codec)"
        }
    }
}
