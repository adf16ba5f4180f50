public import MediaCore

/// The form in which local tracks are sent to the channel.
public struct VideoEncoderConfiguration: Equatable, Sendable {
    /// The size to send, in pixels, with borders if the aspect ratio differs; `nil`, the default,
    /// for the source's size.
    public var size: VideoSize?
    /// How frames are mirrored. Default ``VideoMirrorMode/automatic``: not mirrored.
    public var mirror = VideoMirrorMode.automatic
    /// Whether frames are rotated upright before they are sent. Default false.
    public var isUpright = false
    /// The codec in which frames are sent. `nil`, the default: unencoded if the channel carries
    /// frames, as a channel inside the process does; otherwise the first codec that the backend encodes
    /// and the channel carries. Encoded frames in a codec that the channel carries are always sent
    /// unchanged.
    public var codec: VideoCodec?
    /// The bit rate of encoded frames, in bits per second; `nil`, the default, for 0.1 bits per
    /// pixel. The network may limit it further.
    public var bitRate: Int?
    /// The maximum frame rate of encoded frames, in frames per second; `nil`, the default, for all
    /// frames.
    public var frameRate: Double?
    /// The maximum interval between two key frames. Default 10 s: receivers request further ones
    /// when they need them.
    public var keyFrameInterval = Duration.seconds(10)
    /// What is reduced if the bit rate does not suffice: the size with ``VideoContentHint/motion``
    /// (and by default), the frame rate with ``VideoContentHint/details`` and
    /// ``VideoContentHint/text``. `nil`, the default, for the source's own hint
    /// (``VideoSource/contentHint()``).
    public var contentHint: VideoContentHint?
    /// The encoder. Default ``EncoderChoice/automatic``. If it fails, the next one takes over.
    public var encoder = EncoderChoice.automatic

    /// Creates a configuration with the default values.
    public init() {}
}

/// The form in which the engine's own audio is sent to the channel.
public struct AudioEncoderConfiguration: Equatable, Sendable {
    /// The codec in which frames are sent. `nil`, the default: unencoded if the channel carries
    /// frames, as a channel inside the process does; otherwise the first codec that the backend encodes
    /// and the channel carries.
    public var codec: AudioCodec?
    /// The bit rate of encoded audio, in bits per second. Default 64,000.
    public var bitRate = 64_000

    /// Creates a configuration with the default values.
    public init() {}
}

/// Returns the codec in which a publication is encoded.
///
/// - Parameters:
///   - requested: The codec of the configuration; `nil` for any.
///   - carried: The codecs that the channel carries.
///   - encodable: The codecs that the backend encodes, the preferred one first.
func encodingCodec<Codec: Hashable>(
    _ requested: Codec?, in carried: Set<Codec>, from encodable: [Codec], of kind: MediaKind
) throws(EngineError) -> Codec {
    let names = carried.map { "\($0)" }.sorted()
    if let requested {
        guard carried.contains(requested) else {
            throw EngineError(
                .invalidArgument, message: "the channel does not carry \(requested)",
                advice: names.joined(separator: ", "))
        }
        return requested
    }
    guard let codec = encodable.first(where: carried.contains) else {
        throw EngineError(
            .invalidState, message: "no encoder found for the \(kind) codecs of the channel",
            advice: "install an encoder for \(names.joined(separator: " or "))")
    }
    return codec
}

// MARK: The plan

/// Chooses the size, the frame rate and the bit rate at which a track is encoded for a channel,
/// within the limits of the program, the receivers and the network.
///
/// If the bit rate does not suffice for the picture, the content determines what is reduced: motion
/// keeps its frame rate and is scaled down, details and text keep their size and lose frames.
struct SendPlan: Hashable, Sendable {
    /// The size of the picture; even in both directions.
    var size: VideoSize
    /// Frames per second.
    var frameRate: Double
    /// Whether frames are dropped to keep to the frame rate; otherwise it is the expected rate.
    var dropsFrames = false
    /// Bits per second.
    var bitRate: Int

    /// The bits per pixel for a good picture, and the fewest for an acceptable one.
    private static let (good, poor) = (0.1, 0.04)
    /// The highest bit rates, without and with a request.
    private static let (mostByItself, most) = (20_000_000, 1_000_000_000)
    private static let smallest = VideoSize(width: 160, height: 90)

    /// - Parameters:
    ///   - size: The size of the frames.
    ///   - frameRate: The frame rate of the frames; `nil` if it is not known.
    ///   - hint: The content hint of the pictures.
    ///   - configuration: The program's request.
    ///   - limit: The limit of the receivers and the network.
    init(
        for size: VideoSize, _ frameRate: Double?, hint: VideoContentHint,
        _ configuration: VideoEncoderConfiguration, _ limit: VideoLimit
    ) {
        let stated = frameRate.flatMap { $0 > 0 ? $0 : nil }
        let requested = [configuration.frameRate, limit.frameRate].compactMap { $0 }
            .filter(\.isFinite).min()
        self.frameRate = min(max(min(stated ?? 30, requested ?? .infinity), 1), 120)
        dropsFrames = requested.map { $0 < stated ?? .infinity } ?? false
        // If the source does not state its frame rate, the requested rate is the expected one.
        if stated == nil, let requested { self.frameRate = min(max(requested, 1), 120) }
        self.size = Self.even(size.fitting(limit.size))
        bitRate = 0
        let wanted =
            configuration.bitRate
            ?? min(Self.bits(self.size, self.frameRate, Self.good), Self.mostByItself)
        let most = limit.bitRate.map { max(10_000, $0) } ?? Self.most
        bitRate = min(max(30_000, wanted), most)
        guard limit.bitRate != nil, bitRate < wanted else { return }
        switch hint {
        case .details, .text:
            let fit = Double(bitRate) / (Double(self.size.width * self.size.height) * Self.poor)
            let fewer = max(1, fit.rounded(.down))
            if fewer < self.frameRate { (self.frameRate, dropsFrames) = (fewer, true) }
        case .unspecified, .motion:
            // In steps, so that the picture does not change its size with every change of the limit.
            for step in [4, 3, 2, 1] where Self.bits(self.size, self.frameRate, Self.poor) > bitRate
            {
                let smaller = VideoSize(
                    width: size.width * step / 5, height: size.height * step / 5)
                guard smaller.width >= Self.smallest.width, smaller.height >= Self.smallest.height
                else { break }
                self.size = Self.even(smaller.fitting(limit.size))
            }
        }
    }

    private static func bits(_ size: VideoSize, _ frameRate: Double, _ share: Double) -> Int {
        Int(Double(size.width * size.height) * frameRate * share)
    }

    private static func even(_ size: VideoSize) -> VideoSize {
        VideoSize(width: max(2, size.width & ~1), height: max(2, size.height & ~1))
    }
}

extension VideoSize {
    /// Returns the size scaled down so that it fits into another; aspect ratios are kept, and sides may be
    /// exchanged.
    fileprivate func fitting(_ other: VideoSize?) -> VideoSize {
        guard let other, other.width > 0, other.height > 0, width > 0, height > 0 else {
            return self
        }
        let isTurned = (width >= height) != (other.width >= other.height)
        let (w, h) = isTurned ? (other.height, other.width) : (other.width, other.height)
        let scale = min(1, min(Double(w) / Double(width), Double(h) / Double(height)))
        return VideoSize(
            width: Int((Double(width) * scale).rounded()),
            height: Int((Double(height) * scale).rounded()))
    }
}
