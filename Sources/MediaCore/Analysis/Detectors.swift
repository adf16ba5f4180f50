/// What a detector found in one picture or one block of audio.
public struct Finding: Equatable, Sendable {
    /// Whether the state that the detector looks for is present.
    public var isPresent: Bool
    /// How strongly, from 0 to 1. Each detector says what it measures.
    public var score: Double

    /// Creates a finding.
    public init(_ isPresent: Bool, score: Double) {
        (self.isPresent, self.score) = (isPresent, score)
    }
}

/// The pictures that a detector wants of a stream.
public struct PictureAnalysis: Equatable, Sendable {
    /// The largest size. Larger pictures are scaled down to fit into it. Default 160 × 90.
    public var size = VideoSize(width: 160, height: 90)
    /// The pixel format. Default ``VideoPixelFormat/gray8``: one plane of luma.
    public var pixelFormat = VideoPixelFormat.gray8
    /// The number of pictures per second of media, at most; zero: every picture. Default 5.
    public var rate = 5.0
    /// Whether only key frames of an encoded stream are decoded, which costs far less. All detectors of the
    /// stream must ask for it. Raw streams are not affected. Default false.
    public var keyFramesOnly = false

    /// Creates a request for 160 × 90 pixels of luma, five times a second.
    public init() {}
}

/// Looks at small pictures of a stream, and says whether a state is present: motion, a black picture, a person.
///
/// A detector never changes the stream and never delays a live one: it runs on another thread, and a slow detector
/// misses pictures. It is called for one picture at a time, in the order of their times, so it need not be
/// Sendable.
public protocol VideoDetector {
    /// The pictures that ``inspect(_:)`` gets. Read once, before the first picture. Default: `PictureAnalysis()`.
    var analysis: PictureAnalysis { get }

    /// Looks at one picture, which has the running time of the stream.
    ///
    /// - Throws: Any error: it is reported, and the detector is not called again.
    mutating func inspect(_ picture: VideoFrame) throws -> Finding
}

extension VideoDetector {
    public var analysis: PictureAnalysis { PictureAnalysis() }
}

/// Listens to the audio of a stream, and says whether a state is present: sound, silence, a voice. The
/// counterpart of ``VideoDetector``.
public protocol AudioDetector {
    /// Listens to one block of audio: mono, 32-bit float, with the sample rate and the running time of the stream.
    ///
    /// - Throws: Any error: it is reported, and the detector is not called again.
    mutating func inspect(_ sound: AudioFrame) throws -> Finding
}
