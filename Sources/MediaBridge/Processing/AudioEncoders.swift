/// An element that encodes audio, and how it is set up.
// swift-format-ignore: AlwaysUseLowerCamelCase
enum AudioEncoderElement: String, CaseIterable, EncoderElement {
    case opusenc, avenc_aac, voaacenc, flacenc, audioconvert, mulawenc, alawenc

    static var table: [Self] { allCases }

    var factoryName: String { rawValue }

    var codec: AudioCodec {
        switch self {
        case .opusenc: .opus
        case .avenc_aac, .voaacenc: .aac
        case .flacenc: .flac
        case .audioconvert: .pcm
        case .mulawenc: .mulaw
        case .alawenc: .alaw
        }
    }

    var isForRecordings: Bool { self != .mulawenc && self != .alawenc }

    var isForNetworks: Bool { [.opusenc, .mulawenc, .alawenc].contains(self) }

    var isHardware: Bool { false }

    var hasBitRate: Bool { bitRate(1) != nil }

    /// They run on the processor, and are not tried.
    func refusal() -> String? { nil }

    /// Returns the property of a bit rate, and its value; `nil` if the quality is constant, or nothing is lost.
    ///
    /// - Parameter bits: In bits per second.
    func bitRate(_ bits: Int) -> (property: String, value: String)? {
        switch self {
        case .opusenc: ("bitrate", "\(min(650_000, max(4_000, bits)))")
        case .avenc_aac, .voaacenc: ("bitrate", "\(bits)")
        case .flacenc, .audioconvert, .mulawenc, .alawenc: nil
        }
    }

    /// Returns the encoder with its properties, as part of a pipeline string.
    ///
    /// - Parameters:
    ///   - bits: In bits per second.
    ///   - name: The name of the element; `nil` for none.
    func text(bitRate bits: Int, name: String? = nil) -> String {
        let named = name.map { "\(rawValue) name=\($0)" } ?? rawValue
        let rate = bitRate(bits).map { " \($0.property)=\($0.value)" } ?? ""
        switch self {
        // Blocks of a twentieth of a second at most: an incomplete block is not in the file yet.
        case .flacenc: return "\(named) blocksize=1152"
        // GStreamer's default forces mid/side coding in every band, where libavcodec's chooses: a tone of one
        // channel is then heard in the other.
        // A number, because 1.22 has a Boolean and later versions have an enumeration.
        case .avenc_aac: return "\(named) aac-ms=0\(rate)"
        case .opusenc, .voaacenc, .audioconvert, .mulawenc, .alawenc: return named + rate
        }
    }

    /// Number of samples of silence that the encoder inserts at the beginning without reporting it:
    /// its first unit consists of them, and everything after it sounds that much later than its
    /// timestamp. Measured with a click.
    var hiddenDelay: Int {
        switch self {
        case .avenc_aac: 1024
        case .voaacenc: 1536
        case .opusenc, .flacenc, .audioconvert, .mulawenc, .alawenc: 0
        }
    }

    // MARK: Live streams

    /// The name of the encoder in its chain.
    static let liveName = "encoder"

    /// Returns a chain that encodes samples of any format for a network. Opus has one stream of two channels at most.
    func liveText(bitRate: Int) -> String {
        let input = self == .opusenc ? "rate=48000,channels=[1,2]" : "rate=8000,channels=1"
        return "audioconvert ! audioresample ! audio/x-raw,\(input) ! "
            + text(bitRate: bitRate, name: Self.liveName)
    }
}
