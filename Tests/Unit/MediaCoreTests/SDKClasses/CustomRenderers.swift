import MediaBridgeAgora
import MediaCore

// Renderers as programs write them for Agora's MediaIO and for OpenTok. Only the types are renamed.

/// For Agora, with pixel buffers.
class CustomPixelBufferRenderer: VideoSink {
    var pictures: [(PixelBuffer, VideoRotation)] = []

    func bufferType() -> VideoBufferType { .pixelBuffer }
    func pixelFormat() -> VideoPixelFormat { .NV12 }
    func shouldInitialize() -> Bool { true }
    func shouldStart() {}
    func shouldStop() {}
    func shouldDispose() {}

    func renderPixelBuffer(_ pixelBuffer: PixelBuffer, rotation: VideoRotation) {
        pictures.append((pixelBuffer, rotation))
    }
}

/// For Agora, with bytes; converts to black and white in place.
class CustomRawDataRenderer: VideoSink {
    var luma: [UInt8] = []
    var chroma: [UInt8] = []

    func bufferType() -> VideoBufferType { .rawData }
    func pixelFormat() -> VideoPixelFormat { .I420 }
    func shouldInitialize() -> Bool { true }
    func shouldStart() {}
    func shouldStop() {}
    func shouldDispose() {}

    func renderRawData(
        _ rawData: UnsafeMutableRawPointer, size: VideoSize, rotation: VideoRotation
    ) {
        let count = Int(size.width * size.height)
        memset(rawData + count, 128, count / 2)
        luma = Array(UnsafeRawBufferPointer(start: rawData, count: count))
        chroma = Array(UnsafeRawBufferPointer(start: rawData + count, count: count / 2))
    }

    private func memset(_ start: UnsafeMutableRawPointer, _ byte: UInt8, _ count: Int) {
        start.initializeMemory(as: UInt8.self, repeating: byte, count: count)
    }
}

/// For OpenTok: one method; the frame carries all other information.
class CustomVideoRender: VideoSink {
    var orientations: [VideoRotation] = []
    var firstRows: [[UInt8]] = []

    func render(_ frame: VideoFrame) throws {
        orientations.append(frame.rotation)
        let width = frame.format.width
        try frame.withPlanes { planes in
            let yPlane = planes[0]
            var row: [UInt8] = []
            for j in 0..<width {
                row.append(yPlane.bytes.unsafeLoad(fromByteOffset: j, as: UInt8.self))
            }
            firstRows.append(row)
        }
    }
}
