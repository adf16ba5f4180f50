/// An encoded frame of audio: a small, copyable, reference-counted handle on the bytes of one packet,
/// with its times.
///
/// Passing the frame on, keeping it, and sending it to any number of outputs copies no bytes. It
/// outlives the pipeline that produced it. Thread: any.
public struct EncodedAudioFrame: Sendable {
    /// The codec of the bytes.
    public var codec: AudioCodec

    /// The memory that holds the bytes.
    package var storage: any EncodedStorage

    /// When the first sample is due, in the running time of the object that produced it; `nil` if
    /// unknown. Outputs and recordings reject a frame without it.
    public var runningTime: MediaTime?

    /// How long the frame lasts; `nil` if unknown.
    public var duration: MediaTime?

    /// Samples per second and channel, in Hz; `nil` if only the bytes contain it.
    public var sampleRate: Int?

    /// The number of channels; `nil` if only the bytes contain it.
    public var channels: Int?

    /// How running time relates to the shared clock; set on frames of a live capture, otherwise
    /// `nil`.
    public var liveTiming: LiveTiming?

    /// Creates an encoded frame from a storage. Its bytes are not checked here.
    package init(
        _ codec: AudioCodec, _ storage: any EncodedStorage, runningTime: MediaTime?,
        duration: MediaTime? = nil, sampleRate: Int? = nil, channels: Int? = nil,
        liveTiming: LiveTiming? = nil
    ) {
        self.codec = codec
        self.storage = storage
        self.runningTime = runningTime
        self.duration = duration
        self.sampleRate = sampleRate
        self.channels = channels
        self.liveTiming = liveTiming
    }

    /// Creates an encoded frame from bytes of the program: Opus, AAC, MP3, AC-3 and G.711. They are not
    /// checked here.
    ///
    /// - Parameters:
    ///   - codec: The codec of the bytes.
    ///   - bytes: One encoded frame.
    ///   - codecData: What the decoder needs before the first frame, if it is not in the bytes.
    ///     Default `nil`.
    ///   - runningTime: When its first sample is due; `nil` if that is not known.
    ///   - duration: The duration of its samples; `nil`, the default, if only the bytes contain it.
    ///   - sampleRate: Must be given for G.711.
    ///   - channels: Must be given for Opus and G.711.
    public init(
        _ codec: AudioCodec, bytes: [UInt8], codecData: [UInt8]? = nil, runningTime: MediaTime?,
        duration: MediaTime? = nil, sampleRate: Int? = nil, channels: Int? = nil
    ) {
        self.init(
            codec, MemoryEncodedStorage(bytes, codecData: codecData), runningTime: runningTime,
            duration: duration, sampleRate: sampleRate, channels: channels)
    }

    /// The number of bytes.
    public var byteCount: Int { storage.byteCount }

    /// What the decoder needs before the first frame, if it is not in the bytes; otherwise `nil`.
    public var codecData: [UInt8]? { storage.codecData }

    /// Calls `body` with the bytes, which are valid only during the call.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped, and any error that `body` throws.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        try storage.withUnsafeBytes(body)
    }

    /// A copy of the bytes; empty if the memory cannot be mapped. Setting it replaces the storage by
    /// memory of the program.
    public var bytes: [UInt8] {
        get { storage.copiedBytes }
        set { storage = MemoryEncodedStorage(newValue, codecData: codecData) }
    }
}

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
    /// Uncompressed samples, as in WAVE files. Frames of them are ``AudioFrame``.
    public static let pcm = AudioCodec(rawValue: "pcm")
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
