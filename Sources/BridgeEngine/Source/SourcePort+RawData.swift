internal import MediaCore

// The frame delivery methods of the RTC SDKs.
extension SourcePort where Media == VideoMedia {
    @discardableResult
    func consumePixelBuffer(
        _ pixelBuffer: PixelBuffer, withTimestamp time: MediaTime, rotation: VideoRotation
    ) -> FrameDisposition {
        guard bufferType == .pixelBuffer else {
            return refuse(.wrongBufferType, pixelBuffer.format)
        }
        return consume(VideoFrame(pixelBuffer.storage, runningTime: time, rotation: rotation))
    }

    @discardableResult
    func consumeRawData(
        _ rawData: UnsafeRawPointer, withTimestamp time: MediaTime, format: VideoPixelFormat,
        size: VideoSize, rotation: VideoRotation
    ) -> FrameDisposition {
        let described = VideoFormat(format, width: size.width, height: size.height)
        guard size.isValid else { return refuse(.badSize, described) }
        guard let planes = try? format.packedPlanes(size) else {
            return refuse(.badFormat, described)
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
        let described = VideoFormat(
            picture.format, width: picture.size.width, height: picture.size.height)
        guard bufferType == .rawData else { return refuse(.wrongBufferType, described) }
        // Refuses before copying.
        guard isAdmitting else { return refuse(.notStarted, described) }
        switch picture.copied() {
        case .success(let storage):
            return consume(VideoFrame(storage, runningTime: time, rotation: rotation))
        case .failure(let refusal): return refuse(refusal.cause, described)
        }
    }
}
