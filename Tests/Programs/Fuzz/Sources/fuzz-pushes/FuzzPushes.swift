import FuzzSupport
import MediaBridge
import MediaBridgeAgora

@main struct FuzzPushes {
    static func main() { Fuzzer.run(fuzzOne) }
}

/// Pushes of every kind into a running engine: each is accepted or rejected with a cause, and none may
/// crash the process. The input bytes select the pushes, and are their content.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    var input = FuzzInput(bytes)
    let kind = input.byte()
    switch kind % 8 {
    case 0..<4: pushBytes(&input)
    case 4..<7: pushPixelBuffer(&input)
    default: pushUnit(&input)
    }
    return 0
}

private func pushBytes(_ input: inout FuzzInput) {
    let frame = ExternalVideoFrame()
    frame.format = PushFormat(rawValue: input.number(below: 24))
    fill(frame, &input)
    if input.byte() != 0 { frame.dataBuf = input.rest() }
    PushedEngine.shared.engine.pushExternalVideoFrame(frame)
}

private func pushPixelBuffer(_ input: inout FuzzInput) {
    let frame = ExternalVideoFrame()
    frame.format = input.byte() % 16 == 0 ? .i420 : .pixelBuffer
    let formats = ["I420", "NV12", "BGRA", "RGB", "UYVY", "GRAY8", "nonsense", "Y42B"]
    let format = VideoPixelFormat(rawValue: formats[Int(input.byte()) % formats.count])
    let size = VideoSize(width: input.number(below: 40) - 2, height: input.number(below: 40) - 2)
    fill(frame, &input)
    if let buffer = try? PixelBuffer(format, size: size) { frame.textureBuf = buffer }
    PushedEngine.shared.engine.pushExternalVideoFrame(frame, track: PushedEngine.shared.pictures)
}

private func pushUnit(_ input: inout FuzzInput) {
    let codecs: [VideoCodec] = [.h264, .h265, .vp8, .vp9, .av1, .mjpeg]
    let codec = codecs[Int(input.byte()) % codecs.count]
    let time = input.byte() % 4 == 0 ? nil : MediaTime(nanoseconds: input.wide())
    PushedEngine.shared.engine.pushExternalEncodedVideoFrame(
        EncodedVideoFrame(codec, bytes: input.rest(), runningTime: time),
        track: PushedEngine.shared.units)
}

private func fill(_ frame: ExternalVideoFrame, _ input: inout FuzzInput) {
    frame.strideInPixels = input.size()
    frame.height = input.size()
    frame.cropLeft = input.size() % 9
    frame.cropTop = input.size() % 9
    frame.cropRight = input.size()
    frame.cropBottom = input.size() % 9
    frame.rotation = [0, 90, 180, 270, 45, -90][Int(input.byte()) % 6]
    if input.byte() % 4 != 0 { frame.time = MediaTime(nanoseconds: input.wide()) }
}
