/// Where frames go: a display, a file, an encoder, or a class of yours.
///
/// The order of calls is query (``bufferType()``, ``pixelFormat()``), initialise, start, render …, stop,
/// dispose; start and stop, and initialise and dispose, may repeat. One caller makes all the calls,
/// never two at once and never on the main thread, so a conforming class need not be Sendable. A sink
/// implements one of the three render methods; the rest has defaults.
///
/// Source: Agora's `AgoraVideoSinkProtocol`, OpenTok's `OTVideoRender`.
public protocol VideoSink: AnyObject {
    /// The kind of buffer this sink takes; asked first, and never to change.
    func bufferType() -> VideoBufferType

    /// The pixel format this sink wants; ``VideoPixelFormat/any`` takes frames as they come. Asked once.
    func pixelFormat() -> VideoPixelFormat

    /// Opens what the sink needs. `false` or a thrown reason stops here.
    func shouldInitialize() throws -> Bool

    /// From here on frames come. A thrown reason stops this sink and nothing else.
    func shouldStart() throws

    /// One frame, with its format, strides, time and rotation. Holding it is fine; it stays valid.
    ///
    /// The default hands it to ``renderPixelBuffer(_:rotation:)`` or ``renderRawData(_:size:rotation:)``,
    /// as ``bufferType()`` says.
    func render(_ frame: VideoFrame) throws

    /// One picture. Holding it is fine; it stays valid.
    func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) throws

    /// One picture as bytes, laid out without padding (``VideoPixelFormat/packedPlanes(_:strideInPixels:)``),
    /// so that rows are found by the width. The pointer is valid, and the bytes the sink's own to change,
    /// until the call returns.
    func renderRawData(
        _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
    ) throws

    /// No frame comes after this. A thrown reason is told, and nothing else.
    func shouldStop() throws

    /// Gives back what ``shouldInitialize()`` took. A thrown reason is told, and nothing else.
    func shouldDispose() throws
}

extension VideoSink {
    public func bufferType() -> VideoBufferType { .pixelBuffer }
    public func pixelFormat() -> VideoPixelFormat { .any }
    public func shouldInitialize() throws -> Bool { true }
    public func shouldStart() throws {}
    public func shouldStop() throws {}
    public func shouldDispose() throws {}

    public func render(_ frame: VideoFrame) throws {
        switch bufferType() {
        case .pixelBuffer: try renderPixelBuffer(frame.pixelBuffer, rotation: frame.rotation)
        case .rawData:
            let size = VideoSize(width: frame.width, height: frame.height)
            let storage = try MemoryFrameStorage(packing: frame.storage)
            // Memory of this one call's own, so the sink may write to it.
            try renderRawData(storage.bytes.baseAddress!, size: size, rotation: frame.rotation)
        }
    }

    public func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) throws {
        throw FrameError(
            .badFormat, "\(type(of: self)) asks for pixel buffers, and has no renderPixelBuffer")
    }

    public func renderRawData(
        _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
    ) throws {
        throw FrameError(
            .badFormat, "\(type(of: self)) asks for raw data, and has no renderRawData")
    }
}
