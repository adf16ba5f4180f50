/// A codec of audio. Codecs without a name here have the media type of GStreamer as their name:
/// `AudioCodec(rawValue: "audio/x-speex")`.
public struct AudioCodec: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name: `opus`.
    public let rawValue: String

    /// Creates a codec from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Opus: one packet of one stream, of one or two channels.
    public static let opus = AudioCodec(rawValue: "opus")
    /// AAC: one frame with its ADTS header; or without, with
    /// ``EncodedAudioFrame/codecData`` (AudioSpecificConfig).
    public static let aac = AudioCodec(rawValue: "aac")
    /// MP3: one frame.
    public static let mp3 = AudioCodec(rawValue: "mp3")
    /// FLAC: one frame.
    public static let flac = AudioCodec(rawValue: "flac")
    /// Vorbis: one packet.
    public static let vorbis = AudioCodec(rawValue: "vorbis")
    /// AC-3: one frame.
    public static let ac3 = AudioCodec(rawValue: "ac3")
    /// G.711, A-law: any number of samples.
    public static let alaw = AudioCodec(rawValue: "alaw")
    /// G.711, µ-law: any number of samples.
    public static let mulaw = AudioCodec(rawValue: "mulaw")

    /// The codecs that have a name here.
    package static let named: Set<AudioCodec> = [
        .opus, .aac, .mp3, .flac, .vorbis, .ac3, .alaw, .mulaw,
    ]

    /// The name.
    public var description: String { rawValue }
}
