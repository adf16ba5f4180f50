import MediaBridgeAgora
import MediaCore

// Sources as programs write them for Agora's MediaIO. Only the types are renamed. They are not
// Sendable, and need not be.

/// Keeps its picture as bytes.
class CustomRawDataSource {
    var consumer: (any VideoFrameConsumer)?
    var isCapturing = false
    var calls: [String] = []
    private let size = VideoSize(width: 6, height: 4)
    private var rawData: [UInt8] = []

    func captured(_ number: Int64) -> [FrameDisposition] {
        rawData = [UInt8](repeating: UInt8(number), count: 6 * 4 * 3 / 2)
        let disposition = consumer?.consumeRawData(
            &rawData, withTimestamp: MediaTime(value: number, timescale: 15), format: .I420,
            size: size, rotation: .rotationNone)
        // An unused result causes no warning.
        consumer?.consumeRawData(
            &rawData, withTimestamp: MediaTime(value: number, timescale: 15), format: .BGRA,
            size: VideoSize(width: 3, height: 3), rotation: .rotation180)
        return [disposition].compactMap { $0 }
    }
}

extension CustomRawDataSource: VideoSource {
    func bufferType() -> VideoBufferType {
        calls.append("bufferType")
        return .rawData
    }

    func contentHint() -> VideoContentHint { .none }

    func shouldInitialize() -> Bool {
        calls.append("shouldInitialize")
        return consumer != nil
    }

    func shouldStart() {
        calls.append("shouldStart")
        isCapturing = true
    }

    func shouldStop() {
        calls.append("shouldStop")
        isCapturing = false
    }

    func shouldDispose() {
        calls.append("shouldDispose")
        consumer = nil
    }
}

/// Receives its pictures as pixel buffers, and declares its capture type.
final class CustomPixelBufferSource: VideoSource {
    var consumer: (any VideoFrameConsumer)?

    func bufferType() -> VideoBufferType { .pixelBuffer }
    func captureType() -> VideoCaptureType { .camera }
    func contentHint() -> VideoContentHint { .motion }
    func shouldInitialize() -> Bool { true }
    func shouldStart() {}
    func shouldStop() {}
    func shouldDispose() { consumer = nil }

    func captureOutput(_ pixelBuffer: PixelBuffer) {
        consumer?.consumePixelBuffer(
            pixelBuffer, withTimestamp: MediaTime(value: 1, timescale: 15), rotation: .rotation90)
    }
}
