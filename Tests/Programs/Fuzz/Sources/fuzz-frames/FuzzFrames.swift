import FuzzSupport

@testable import GStreamerKit
@testable import MediaBridge
@testable import MediaFrames

@main struct FuzzFrames {
    static func main() { Fuzzer.run(fuzzOne) }
}

/// Buffers whose caps, planes and memory are inconsistent. A buffer is mapped only if it is large enough;
/// then every byte is read and written under the address sanitizer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Numbers(UnsafeBufferPointer(start: start, count: count)[...])
    if input.next(2) == 0 { picture(&input) } else { sound(&input) }
    return 0
}

private let formats = [
    "I420", "NV12", "BGRA", "RGB", "GRAY8", "YUY2", "Y42B", "A420", "P010_10LE", "v210",
    "NV12_64Z32",
    "RGB8P", "Y444_16LE", "GRAY10_LE32", "UYVP", "NV12_4L4", "AYUV64", "Y41B", "IYU1",
    "NV12_10LE40",
]

private func picture(_ input: inout Numbers) {
    let format = formats[input.next(formats.count)]
    let (width, height) = (1 + input.next(80), 1 + input.next(80))
    guard let info = try? VideoInfo(format: format, width: width, height: height),
        let about = try? VideoInfo(
            format: format, width: 1 + input.next(80), height: 1 + input.next(80)),
        var buffer = Buffer.allocate(byteCount: input.near(about.byteCount, most: 1 << 20))
    else { return }
    if input.next(3) > 0 {
        let layouts = about.planeLayouts
        buffer.describeVideo(
            about, offsets: layouts.map { input.near($0.offset, most: .max >> 1) },
            strides: layouts.map { input.near($0.stride, most: Int(Int32.max)) })
    }
    read(buffer, info)
    if let frame = MappedVideoFrame(buffer, info, .write) {
        for index in 0..<frame.planeCount {
            frame.plane(index).memory.initializeMemory(as: UInt8.self, repeating: 1)
        }
    }
}

private func read(_ buffer: borrowing Buffer, _ info: VideoInfo) {
    guard let frame = MappedVideoFrame(buffer, info, .read) else { return }
    guard buffer.holds(info) else { fatalError("mapped, and does not lie in its memory") }
    for index in 0..<frame.planeCount {
        let plane = frame.plane(index)
        let layout = plane.layout
        let row = layout.width * layout.pixelStride
        if layout.pixelStride > 0, !info.isTiled,
            (layout.rows - 1) * layout.stride + row > plane.memory.count
        {
            fatalError("a row of \(info.format) is not there")
        }
        withExtendedLifetime(plane.memory.reduce(0) { $0 &+ Int($1) }) {}
    }
}

private func sound(_ input: inout Numbers) {
    let format = AudioFormat(
        [.s16le, .f32le, .s32le, .u8][input.next(4)], sampleRate: 48_000,
        channels: 1 + input.next(10),
        isPlanar: input.next(2) == 0)
    guard let info = try? AudioInfo(format),
        var buffer = Buffer.allocate(byteCount: input.near(4096, most: 1 << 16))
    else { return }
    if input.next(3) > 0 {
        let plane = input.near(512, most: 1 << 20)
        buffer.describeAudio(
            info, sampleCount: input.near(128, most: .max >> 1),
            offsets: (0..<format.channels).map { $0 * plane })
    }
    guard let mapped = MappedAudioBuffer(buffer, info, .write) else { return }
    for plane in mapped.planes where plane.count > 0 {
        plane.initializeMemory(as: UInt8.self, repeating: 1)
    }
}

/// The fuzzer's bytes as numbers, followed by zeros.
private struct Numbers {
    private var bytes: Slice<UnsafeBufferPointer<UInt8>>

    init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) { self.bytes = bytes }

    mutating func next(_ limit: Int) -> Int { Int(bytes.popFirst() ?? 0) % limit }

    /// Often the number itself or one close to it; sometimes any number.
    mutating func near(_ number: Int, most: Int) -> Int {
        switch next(8) {
        case 0: return min(most, max(0, number - 1 - next(8)))
        case 1: return min(most, number + 1 + next(8))
        case 2: return min(most, number * 2)
        case 3: return (0..<8).reduce(0) { sum, _ in (sum << 8 | next(256)) & most } & most
        default: return min(most, number)
        }
    }
}
