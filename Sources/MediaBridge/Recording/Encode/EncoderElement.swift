/// The elements that a recorder encodes with, by factory name. The first installed element of a
/// codec is used.
protocol EncoderElement: CaseIterable, RawRepresentable<String>, Sendable {
    associatedtype Codec: RawRepresentable<String> & Equatable
    var codec: Codec { get }
}

extension EncoderElement {
    /// Returns the elements of a codec, the preferred one first.
    static func all(of codec: Codec) -> [Self] { allCases.filter { $0.codec == codec } }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
enum VideoEncoderElement: String, EncoderElement {
    case x264enc, openh264enc, vp8enc, vp9enc, av1enc, jpegenc, avenc_ffv1

    var codec: VideoCodec {
        switch self {
        case .x264enc, .openh264enc: .h264
        case .vp8enc: .vp8
        case .vp9enc: .vp9
        case .av1enc: .av1
        case .jpegenc: .mjpeg
        case .avenc_ffv1: .ffv1
        }
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
enum AudioEncoderElement: String, EncoderElement {
    case opusenc, avenc_aac, voaacenc, flacenc

    var codec: AudioCodec {
        switch self {
        case .opusenc: .opus
        case .avenc_aac, .voaacenc: .aac
        case .flacenc: .flac
        }
    }

    /// Number of samples of silence that the encoder inserts at the beginning without reporting it:
    /// its first unit consists of them, and everything after it sounds that much later than its
    /// timestamp. Measured with a click.
    var hiddenDelay: Int {
        switch self {
        case .avenc_aac: 1024
        case .voaacenc: 1536
        case .opusenc, .flacenc: 0
        }
    }
}
