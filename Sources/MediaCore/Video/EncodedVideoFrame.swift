/// A unit of encoded video: a small, copyable, reference-counted handle on the bytes of one access
/// unit, with its times.
///
/// Passing a unit on, keeping it, and sending it to any number of outputs copies no bytes. It
/// outlives the pipeline that produced it. Thread: any.
public struct EncodedVideoFrame: Sendable {
    /// The codec of the bytes.
    public var codec: VideoCodec { didSet { parsed = ParsedReferences() } }

    /// The memory that holds the bytes.
    public var storage: any EncodedVideoStorage { didSet { parsed = ParsedReferences() } }

    /// What the bytes say about references. Shared by all copies, so that the bytes are parsed once.
    private(set) var parsed = ParsedReferences()

    /// When the picture is due, in the running time of the object that produced it; `nil` if
    /// unknown. Pushed units may have a capture time by any clock that only advances, and `nil`
    /// means the time of the push.
    public var runningTime: MediaTime?

    /// When the unit is decoded, in the same time; `nil` if it is not known. Differs from
    /// ``runningTime`` where pictures are decoded in another order than they are shown.
    public var decodingTime: MediaTime?

    /// How long the picture is shown; `nil` if unknown.
    public var duration: MediaTime?

    /// How far the picture must be turned clockwise to stand upright.
    public var rotation: VideoRotation

    /// How running time relates to the shared clock; set on units of a live capture, otherwise
    /// `nil`.
    public var liveTiming: LiveTiming?

    /// Creates a unit from a storage. Its bytes are not checked here.
    public init(
        _ codec: VideoCodec, _ storage: any EncodedVideoStorage, runningTime: MediaTime?,
        decodingTime: MediaTime? = nil, duration: MediaTime? = nil, rotation: VideoRotation = .none,
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

    /// Creates a unit from bytes of the program. They are not checked here.
    ///
    /// - Parameters:
    ///   - codec: The codec of the bytes.
    ///   - bytes: One unit.
    ///   - codecData: What the decoder needs before the first unit, if it is not in the bytes: `avcC` or
    ///     `hvcC` for units whose NAL units follow their lengths. Default `nil`.
    ///   - runningTime: When its picture is due; `nil` if that is not known.
    ///   - rotation: The clockwise rotation for display. Default none.
    public init(
        _ codec: VideoCodec, bytes: [UInt8], codecData: [UInt8]? = nil, runningTime: MediaTime?,
        rotation: VideoRotation = .none
    ) {
        self.init(
            codec, MemoryEncodedStorage(bytes, codecData: codecData), runningTime: runningTime,
            rotation: rotation)
    }

    /// The number of bytes.
    public var byteCount: Int { storage.byteCount }

    /// What the decoder needs before the first unit, if it is not in the bytes; otherwise `nil`.
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
