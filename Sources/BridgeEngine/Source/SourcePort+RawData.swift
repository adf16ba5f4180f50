internal import MediaCore

// The frame delivery methods of the RTC SDKs.
extension SourcePort where Media == VideoMedia {
    @discardableResult
    func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        guard bufferType == .pixelBuffer else {
            return refuse(.wrongBufferType, pixelBuffer.size)
        }
        return consume(VideoFrame(pixelBuffer.storage, runningTime: time, rotation: rotation))
    }

    @discardableResult
    func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        guard size.isValid else { return refuse(.badSize, size) }
        guard let planes = try? format.packedPlanes(size) else {
            return refuse(.badFormat, size)
        }
        let bytes = UnsafeRawBufferPointer(
            start: rawData, count: VideoPixelFormat.byteCount(of: planes))
        return consume(
            RawPicture(unsafe: bytes, format: format, size: size), withTimestamp: time,
            rotation: rotation)
    }

    @discardableResult
    func consume(
        _ picture: RawPicture, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        guard bufferType == .rawData else { return refuse(.wrongBufferType, picture.size) }
        // Refuses before copying.
        guard isAdmitting else { return refuse(.notStarted, picture.size) }
        switch picture.copied() {
        case .success(let storage):
            return consume(VideoFrame(storage, runningTime: time, rotation: rotation))
        case .failure(let refusal): return refuse(refusal.cause, picture.size)
        }
    }
}
