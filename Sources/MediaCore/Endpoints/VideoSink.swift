/// A receiver of video frames: a display, a file, an encoder, or a class of the program.
///
/// The order of calls is query (``bufferType()``, ``pixelFormat()``), initialise, start, render …,
/// stop, dispose. Start and stop may repeat, and so may initialise and dispose. All calls come from
/// one caller, never overlap and are never made on the main thread, so a conforming class need not
/// be Sendable. A sink implements one of the three render methods for pictures, and
/// ``render(_:)-(EncodedVideoFrame)`` if it takes units; all other methods have default
/// implementations.
///
/// Source: Agora's `AgoraVideoSinkProtocol`, OpenTok's `OTVideoRender`.
public protocol VideoSink: MediaEndpoint {
    /// Returns the kind of buffer this sink takes. Called first; the result must not change.
    /// Default ``VideoBufferType/pixelBuffer``.
    func bufferType() -> VideoBufferType

    /// Returns the pixel format this sink asks for. Called once. Default ``VideoPixelFormat/any``:
    /// frames are delivered unconverted.
    func pixelFormat() -> VideoPixelFormat

    /// Returns the codecs whose units this sink takes as they are, without decoding. Called once.
    /// Default: none.
    ///
    /// Such a sink still gets pictures if the stream consists of pictures, if processors change
    /// them, or if the renderer's options ask for a size, for upright or for mirrored pictures. A
    /// camera's units are mirrored only on request.
    func codecs() -> Set<VideoCodec>

    /// Takes one encoded unit of a codec in ``codecs()``. Units come in the order in which they are
    /// decoded, beginning with a key frame; if one is lost, those up to the next key frame are lost,
    /// too. The unit may be kept; it stays valid.
    func render(_ unit: EncodedVideoFrame) throws

    /// Renders one frame, which has its own format, strides, time and rotation. The frame may be
    /// kept; it stays valid.
    ///
    /// The default implementation calls ``renderPixelBuffer(_:rotation:)`` or
    /// ``renderRawData(_:size:rotation:)``, as ``bufferType()`` says.
    func render(_ frame: VideoFrame) throws

    /// Renders one picture, which may be kept; it stays valid.
    func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) throws

    /// Renders one picture as bytes without row padding
    /// (``VideoPixelFormat/packedPlanes(_:strideInPixels:)``), so that the position of a row
    /// follows from the width. Until the call returns, the pointer is valid and the sink may change
    /// the bytes.
    func renderRawData(
        _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
    ) throws
}

extension VideoSink {
    public func bufferType() -> VideoBufferType { .pixelBuffer }
    public func pixelFormat() -> VideoPixelFormat { .any }
    public func codecs() -> Set<VideoCodec> { [] }
    public func shouldStart() throws {}
    public func shouldStop() throws {}

    public func render(_ frame: VideoFrame) throws {
        switch bufferType() {
        case .pixelBuffer: try renderPixelBuffer(frame.pixelBuffer, rotation: frame.rotation)
        case .rawData:
            let size = VideoSize(width: frame.width, height: frame.height)
            let storage = try MemoryFrameStorage(packing: frame.storage)
            // This memory is used for this call only, so the sink may write to it.
            try renderRawData(storage.bytes.baseAddress!, size: size, rotation: frame.rotation)
        }
    }

    public func render(_ unit: EncodedVideoFrame) throws {
        throw FrameError(.badFormat, "\(type(of: self)) accepts no encoded frames in \(unit.codec)")
    }

    public func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) throws {
        throw FrameError(
            .badFormat,
            "\(type(of: self)) requests pixel buffers, but does not implement renderPixelBuffer")
    }

    public func renderRawData(
        _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
    ) throws {
        throw FrameError(
            .badFormat, "\(type(of: self)) requests raw data, but does not implement renderRawData")
    }
}
