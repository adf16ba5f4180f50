internal import Synchronization

/// An encoded frame of video: a small, copyable, reference-counted handle on the bytes of one access
/// unit, with its times.
///
/// ```swift
/// let camera = try PipelineVideoSource("v4l2src ! video/x-h264 ! h264parse")
/// for try await frame in camera.encodedFrames() {
///     print(frame.codec, frame.isKeyFrame, frame.byteCount)
///     try await recorder.write(frame)  // copied, not decoded
/// }
/// ```
///
/// Passing the frame on, keeping it, and sending it to any number of outputs copies no bytes. It
/// outlives the pipeline that produced it. Thread: any.
public struct EncodedVideoFrame: Sendable {
    /// The codec of the bytes.
    public var codec: VideoCodec { didSet { parsed = ParsedReferences() } }

    /// The memory that holds the bytes.
    package var storage: any EncodedStorage { didSet { parsed = ParsedReferences() } }

    /// What the bytes say about references. Shared by all copies, so that the bytes are parsed once.
    private var parsed = ParsedReferences()

    /// When the picture is due, in the running time of the object that produced it; `nil` if
    /// unknown. Pushed frames may have a capture time by any clock that only advances, and `nil`
    /// means the time of the push.
    public var runningTime: MediaTime?

    /// When the frame is decoded, in the same time; `nil` if it is not known. Differs from
    /// ``runningTime`` where pictures are decoded in another order than they are shown.
    public var decodingTime: MediaTime?

    /// How long the picture is shown; `nil` if unknown.
    public var duration: MediaTime?

    /// How far the picture must be turned clockwise to stand upright.
    public var rotation: VideoRotation

    /// How running time relates to the shared clock; set on frames of a live capture, otherwise
    /// `nil`.
    public var liveTiming: LiveTiming?

    /// Creates an encoded frame from a storage. Its bytes are not checked here.
    package init(
        _ codec: VideoCodec, _ storage: any EncodedStorage, runningTime: MediaTime?,
        decodingTime: MediaTime? = nil, duration: MediaTime? = nil,
        rotation: VideoRotation = .upright,
        liveTiming: LiveTiming? = nil
    ) {
        self.codec = codec
        self.storage = storage
        self.runningTime = runningTime
        self.decodingTime = decodingTime
        self.duration = duration
        self.rotation = rotation
        self.liveTiming = liveTiming
    }

    /// Creates an encoded frame from bytes of the program. They are not checked here.
    ///
    /// - Parameters:
    ///   - codec: The codec of the bytes.
    ///   - bytes: One encoded frame.
    ///   - codecData: What the decoder needs before the first frame, if it is not in the bytes: `avcC` or
    ///     `hvcC` for frames whose NAL units follow their lengths. Default `nil`.
    ///   - runningTime: When its picture is due; `nil` if that is not known.
    ///   - rotation: The clockwise rotation for display. Default none.
    public init(
        _ codec: VideoCodec, bytes: [UInt8], codecData: [UInt8]? = nil, runningTime: MediaTime?,
        rotation: VideoRotation = .upright
    ) {
        self.init(
            codec, MemoryEncodedStorage(bytes, codecData: codecData), runningTime: runningTime,
            rotation: rotation)
    }

    /// The number of bytes.
    public var byteCount: Int { storage.byteCount }

    /// What the decoder needs before the first frame, if it is not in the bytes; otherwise `nil`.
    public var codecData: [UInt8]? { storage.codecData }

    /// The size of the picture; `nil` if only the bytes contain it.
    public var size: VideoSize? { storage.size }

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

/// A codec of pictures. Codecs without a name here have the media type of GStreamer as their name:
/// `VideoCodec(rawValue: "video/x-theora")`.
public struct VideoCodec: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name: `h264`.
    public let rawValue: String

    /// Creates a codec from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// H.264: one access unit. In byte-stream format (start codes) key frames include the
    /// parameter sets; with ``EncodedVideoFrame/codecData`` (`avcC`), NAL units follow their
    /// lengths.
    public static let h264 = VideoCodec(rawValue: "h264")
    /// H.265: as ``h264``; the codec data is `hvcC`.
    public static let h265 = VideoCodec(rawValue: "h265")
    /// VP8: one frame.
    public static let vp8 = VideoCodec(rawValue: "vp8")
    /// VP9: one superframe.
    public static let vp9 = VideoCodec(rawValue: "vp9")
    /// AV1: one temporal unit, as a stream of OBUs with sizes.
    public static let av1 = VideoCodec(rawValue: "av1")
    /// One JPEG picture.
    public static let mjpeg = VideoCodec(rawValue: "mjpeg")
    /// ProRes: one picture.
    public static let prores = VideoCodec(rawValue: "prores")
    /// FFV1: one picture, lossless.
    public static let ffv1 = VideoCodec(rawValue: "ffv1")

    /// The codecs that have a name here.
    package static let named: Set<VideoCodec> = [
        .h264, .h265, .vp8, .vp9, .av1, .mjpeg, .prores, .ffv1,
    ]

    /// The name.
    public var description: String { rawValue }
}

// MARK: References

/// Which other encoded frames an encoded frame refers to.
package enum EncodedVideoFrameReferences: UInt8, Sendable {
    /// None: decoding may begin with this frame.
    case none = 1
    /// The frame contains no picture, only parameter sets that others need.
    case noPicture
    /// Earlier frames, or the references are unknown.
    case unitsBefore
}

/// The result of parsing a frame's headers, once they have been parsed.
private final class ParsedReferences: Sendable {
    private let stored = Atomic<UInt8>(0)

    /// Returns the result. Threads that ask at the same time may each parse.
    func value(
        parsing parse: () -> EncodedVideoFrameReferences
    ) -> EncodedVideoFrameReferences {
        if let known = EncodedVideoFrameReferences(rawValue: stored.load(ordering: .relaxed)) {
            return known
        }
        let value = parse()
        stored.store(value.rawValue, ordering: .relaxed)
        return value
    }
}

extension EncodedVideoFrame {
    /// Whether decoding may begin with this frame.
    ///
    /// A frame of a pipeline is marked accordingly. Otherwise its bytes are parsed: for H.264 an IDR
    /// picture, a picture that comes with its parameter sets, or one marked as a recovery point;
    /// for H.265 a random access picture; for VP8 and VP9 a key frame; for AV1 a temporal unit
    /// with a sequence header. Every JPEG picture is a key frame. The bytes of other codecs are not
    /// parsed, and every frame counts as a key frame.
    public var isKeyFrame: Bool { references == .none }

    /// Which other encoded frames this one refers to. Its headers are parsed once for all copies of the frame.
    package var references: EncodedVideoFrameReferences {
        if storage.isKeyFrame == true { return .none }
        let parsed = parsed.value {
            guard let parser = Self.parsers[codec] else { return .none }
            return (try? withUnsafeBytes { parser(self, $0) }) ?? .unitsBefore
        }
        return storage.isKeyFrame == false && parsed == .none ? .unitsBefore : parsed
    }

    /// By codec: what finds the references in the bytes of a frame. The bytes of other codecs are not
    /// parsed.
    private static let parsers: [VideoCodec: @Sendable (Self, Bytes) -> References] = [
        .h264: { h264References($1, NetworkUnits($1, of: .h264, codecData: $0.codecData)) },
        .h265: { h265References($1, NetworkUnits($1, of: .h265, codecData: $0.codecData)) },
        // The frame tag's first bit is clear in a key frame.
        .vp8: { $1.first.map { $0 & 1 == 0 } == true ? .none : .unitsBefore },
        .vp9: { vp9References($1) },
        .av1: { av1References($1) },
    ]
    private typealias Bytes = UnsafeRawBufferPointer
    private typealias References = EncodedVideoFrameReferences

    private static func h264References(
        _ bytes: UnsafeRawBufferPointer, _ units: NetworkUnits
    ) -> EncodedVideoFrameReferences {
        var (hasParameters, isRecoveryPoint) = (false, false)
        for header in units {
            switch bytes[header] & 0x1f {
            case 5: return .none
            case 7: hasParameters = true
            // An SEI unit whose first message is a recovery point (type 6).
            case 6 where header + 1 < bytes.count && bytes[header + 1] == 6: isRecoveryPoint = true
            // After the first slice only other slices of the same picture follow.
            case 1, 2: return hasParameters || isRecoveryPoint ? .none : .unitsBefore
            default: break
            }
        }
        return hasParameters ? .noPicture : .unitsBefore
    }

    private static func h265References(
        _ bytes: UnsafeRawBufferPointer, _ units: NetworkUnits
    ) -> EncodedVideoFrameReferences {
        var hasParameters = false
        for header in units {
            switch bytes[header] >> 1 & 0x3f {
            // BLA, IDR and CRA pictures.
            case 16...21: return .none
            case 0...15: return .unitsBefore
            case 32...34: hasParameters = true
            default: break
            }
        }
        return hasParameters ? .noPicture : .unitsBefore
    }

    /// Reads the uncompressed header of the first frame (VP9 bitstream specification, 6.2).
    private static func vp9References(
        _ bytes: UnsafeRawBufferPointer
    ) -> EncodedVideoFrameReferences {
        guard let first = bytes.first, first >> 6 == 2 else { return .unitsBefore }
        // Profile 3 has a reserved bit behind its own two.
        let isLongest = first >> 4 & 3 == 3
        let (showsExisting, isInter) =
            isLongest ? (first >> 2 & 1, first >> 1 & 1) : (first >> 3 & 1, first >> 2 & 1)
        return showsExisting == 0 && isInter == 0 ? .none : .unitsBefore
    }

    /// A temporal unit with a sequence header is taken for a key frame.
    private static func av1References(
        _ bytes: UnsafeRawBufferPointer
    ) -> EncodedVideoFrameReferences {
        OpenBitstreamUnits(bytes).contains(.sequenceHeader) ? .none : .unitsBefore
    }
}

// MARK: Storage

/// The memory behind an encoded frame: a GStreamer buffer, or bytes of the program.
///
/// Conforming types are reference-counted handles on bytes that never change. Thread: any, for all
/// members.
package protocol EncodedStorage: AnyObject, Sendable {
    /// The number of bytes.
    var byteCount: Int { get }

    /// What the decoder needs before the first frame, if it is not in the bytes; otherwise `nil`.
    var codecData: [UInt8]? { get }

    /// The size of the picture; `nil` for audio, and if only the bytes contain it.
    var size: VideoSize? { get }

    /// Whether decoding may begin with the frame; `nil` if only the bytes show it.
    var isKeyFrame: Bool? { get }

    /// Maps the bytes, calls `body` once and unmaps them.
    func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(FrameError)
}

extension EncodedStorage {
    /// Calls `body` with the bytes, which are valid only during the call.
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        var result: Result<R, any Error>?
        try read { bytes in result = Result { try body(bytes) } }
        guard let result else {
            throw FrameError(.notMappable, "the storage of an encoded frame returned no bytes")
        }
        return try result.get()
    }

    /// A copy of the bytes; empty if the memory cannot be mapped.
    var copiedBytes: [UInt8] { (try? withUnsafeBytes { [UInt8]($0) }) ?? [] }
}

/// Bytes of the program.
final class MemoryEncodedStorage: EncodedStorage {
    private let bytes: [UInt8]
    let codecData: [UInt8]?

    init(_ bytes: [UInt8], codecData: [UInt8]?) {
        self.bytes = bytes
        self.codecData = codecData
    }

    var byteCount: Int { bytes.count }
    var size: VideoSize? { nil }
    var isKeyFrame: Bool? { nil }

    func read(_ body: (UnsafeRawBufferPointer) -> Void) { bytes.withUnsafeBytes { body($0) } }
}
