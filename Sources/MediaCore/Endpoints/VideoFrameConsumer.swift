/// What a source delivers to. The engine makes one for each source; a class may be one too, to receive
/// what a source delivers without an engine.
///
/// Thread: any, but one at a time; a call returns at once where the stream is live, and where it is a
/// file it may block for as long as the slowest receiver needs.
///
/// Source: Agora's `AgoraVideoFrameConsumer`, OpenTok's `OTVideoCaptureConsumer`.
public protocol VideoFrameConsumer: AnyObject, Sendable {
    /// Takes a frame, or says why not.
    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition

    /// Takes a picture that is counted, without a copy, or says why not.
    ///
    /// - Parameters:
    ///   - time: When it was taken, in any one clock that goes forward; running time is best.
    ///   - rotation: How far it must be turned clockwise to stand upright.
    @discardableResult
    func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition

    /// Copies a picture that lies in memory as ``VideoPixelFormat/packedPlanes(_:strideInPixels:)`` says,
    /// or says why not.
    ///
    /// - Parameter rawData: Must reach over the whole picture; ``RawPicture`` is the form that is checked.
    @discardableResult
    func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition

    /// Copies a picture of known extent and stride, or says why not.
    @discardableResult
    func consume(
        _ picture: RawPicture, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition

    /// The source has nothing more to deliver: the end of a file.
    func sourceDidEnd()

    /// The source cannot go on.
    func sourceDidFail(_ error: any Error)
}

extension VideoFrameConsumer {
    @discardableResult
    public func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        consume(VideoFrame(pixelBuffer.storage, runningTime: time, rotation: rotation))
    }

    @discardableResult
    public func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        guard size.isValid else { return .badSize }
        guard let planes = try? format.packedPlanes(size) else { return .badFormat }
        let count = VideoPixelFormat.byteCount(of: planes)
        return consume(
            RawPicture(
                unsafe: UnsafeRawBufferPointer(start: rawData, count: count), format: format,
                size: size),
            withTimestamp: time, rotation: rotation)
    }

    @discardableResult
    public func consume(
        _ picture: RawPicture, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        switch picture.copied() {
        case .success(let storage):
            return consume(VideoFrame(storage, runningTime: time, rotation: rotation))
        case .failure(let refusal): return .dropped(refusal.cause)
        }
    }

    public func sourceDidEnd() {}
    public func sourceDidFail(_ error: any Error) {}
}
