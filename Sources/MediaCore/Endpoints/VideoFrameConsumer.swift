/// Receives the frames of a video source. The engine creates one for each source; a class may also
/// conform to receive frames without an engine.
///
/// Thread: any, but one call at a time. A call returns at once for a live stream; for a file it may
/// block for as long as the slowest receiver needs.
///
/// Source: Agora's `AgoraVideoFrameConsumer`, OpenTok's `OTVideoCaptureConsumer`.
public protocol VideoFrameConsumer: AnyObject, Sendable {
    /// Accepts a frame, or returns the reason for dropping it.
    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition

    /// Accepts an encoded unit, or returns the reason for dropping it. Units come in the order in
    /// which they are decoded.
    ///
    /// Default: takes no units, and returns ``FrameDisposition/wrongBufferType``.
    @discardableResult
    func consume(_ unit: EncodedVideoFrame) -> FrameDisposition

    /// Accepts a reference-counted picture without a copy, or returns the reason for dropping it.
    ///
    /// - Parameters:
    ///   - pixelBuffer: The picture, which is retained while it is needed.
    ///   - time: The capture time, by any clock that only advances; preferably running time.
    ///   - rotation: How far the picture must be turned clockwise to stand upright.
    @discardableResult
    func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition

    /// Copies a picture that is laid out as in ``VideoPixelFormat/packedPlanes(_:strideInPixels:)``
    /// and accepts it, or returns the reason for dropping it.
    ///
    /// - Parameters:
    ///   - rawData: Must contain the whole picture, which is not checked; with ``RawPicture`` the
    ///     size is checked.
    ///   - time: The capture time, by any clock that only advances; preferably running time.
    ///   - format: The pixel format, which determines the planes.
    ///   - size: Width and height in pixels.
    ///   - rotation: How far the picture must be turned clockwise to stand upright.
    @discardableResult
    func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition

    /// Copies a picture of known length and stride and accepts it, or returns the reason for
    /// dropping it.
    @discardableResult
    func consume(
        _ picture: RawPicture, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition

    /// Called when the source has no more frames, as at the end of a file.
    func sourceDidEnd()

    /// Called when the source has failed and delivers no more frames.
    func sourceDidFail(_ error: any Error)
}

extension VideoFrameConsumer {
    @discardableResult
    public func consume(_ unit: EncodedVideoFrame) -> FrameDisposition { .wrongBufferType }

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

    /// Does the same with bytes whose number is checked: too few are refused with ``DropCause/badSize``.
    @discardableResult
    public func consumeRawData(
        _ rawData: RawSpan, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        unsafe rawData.withUnsafeBytes { bytes in
            unsafe consume(
                RawPicture(unsafe: bytes, format: format, size: size), withTimestamp: time,
                rotation: rotation)
        }
    }

    /// Does the same with bytes whose number is checked: too few are refused with ``DropCause/badSize``.
    @discardableResult
    public func consumeRawData(
        _ rawData: [UInt8], withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        consumeRawData(
            rawData.span.bytes, withTimestamp: time, format: format, size: size, rotation: rotation)
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
