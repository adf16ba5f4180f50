import GStreamerKit
import TestSupport
import Testing

/// Pictures whose caps, planes and memory disagree are mapped only if the memory contains every
/// row.
@Suite(.hangGuard) struct MappedBoundsTests {
    private static let formats = [
        "I420", "NV12", "BGRA", "RGB", "GRAY8", "YUY2", "Y42B", "A420", "P010_10LE", "v210",
        "NV12_64Z32",
        "RGB8P", "Y444_16LE", "NV21", "GRAY10_LE32", "UYVP", "NV12_4L4", "AYUV64", "Y41B", "IYU1",
    ]

    private static func odd(_ good: Int, _ generator: inout SeededGenerator) -> Int {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: 0
        case 1: good - 1
        case 2: good + 1
        case 3: good * 2
        case 4: Int.random(in: 0...1 << 20, using: &generator)
        case 5: Int(Int32.max)
        default: good
        }
    }

    @Test(arguments: 0..<8) func everyMappedRowIsInsideTheBuffer(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var (mapped, refused) = (0, 0)
        for _ in 0..<2000 {
            let format = Self.formats.randomElement(using: &generator)!
            let (width, height) = (
                Int.random(in: 1...70, using: &generator), Int.random(in: 1...70, using: &generator)
            )
            let info = try VideoInfo(format: format, width: width, height: height)
            // Some sizes are impossible in this format.
            guard
                let about = try? VideoInfo(
                    format: format, width: max(1, min(32768, Self.odd(width, &generator))),
                    height: max(1, min(32768, Self.odd(height, &generator))))
            else { continue }
            let planes = about.planeLayouts
            let count = min(1 << 22, max(1, Self.odd(about.byteCount, &generator)))
            guard var buffer = Buffer.allocate(byteCount: count) else {
                Issue.record("no memory")
                continue
            }
            if Bool.random(using: &generator) {
                buffer.describeVideo(
                    about, offsets: planes.map { max(0, Self.odd($0.offset, &generator)) },
                    strides: planes.map { Self.odd($0.stride, &generator) })
            }
            for access in [MappedVideoFrame.Access.read, .write] {
                let isIn = buffer.holds(info)
                let frame = MappedVideoFrame(buffer, info, access)
                guard let frame else {
                    refused += 1
                    continue
                }
                mapped += 1
                check(isIn, "seed \(seed): mapped, and does not lie in its memory")
                var sum = 0
                for index in 0..<frame.planeCount {
                    let plane = frame.plane(index)
                    let layout = plane.layout
                    #expect(layout.rows > 0 && layout.stride > 0)
                    guard layout.pixelStride > 0, !info.isTiled else {
                        // An out-of-bounds byte would be at an end, so reading the millions of
                        // bytes in between is useless.
                        sum &+= Int(plane.memory.first ?? 0) &+ Int(plane.memory.last ?? 0)
                        continue
                    }
                    let row = layout.width * layout.pixelStride
                    #expect(
                        (layout.rows - 1) * layout.stride + row <= plane.memory.count,
                        "seed \(seed): \(format) \(width)×\(height)")
                    for y in 0..<layout.rows {
                        sum &+= Int(plane.memory[y * layout.stride + row - 1])
                    }
                }
                withExtendedLifetime(sum) {}
            }
        }
        #expect(mapped > 100 && refused > 100, "\(mapped) mapped, \(refused) refused")
    }

    @Test func theDefaultLayoutOfEveryFormatFits() throws {
        for format in Self.formats {
            for (width, height) in [(1, 1), (2, 2), (7, 5), (64, 48), (33, 17)] {
                let info = try VideoInfo(format: format, width: width, height: height)
                guard let buffer = Buffer.allocate(byteCount: info.byteCount) else {
                    Issue.record("no memory")
                    continue
                }
                check(buffer.holds(info), "\(format) \(width)×\(height)")
                if let _ = MappedVideoFrame(buffer, info, .write) {
                } else {
                    Issue.record("\(format) \(width)×\(height) is not mapped")
                }
            }
        }
    }

    /// Decoders describe the complete decoded picture; the caps state the visible part.
    @Test func paddedFrameIsCroppedToItsCaps() throws {
        let info = try VideoInfo(format: "I420", width: 6, height: 6)
        let whole = try VideoInfo(format: "I420", width: 16, height: 16)
        guard var buffer = Buffer.allocate(byteCount: whole.byteCount) else {
            Issue.record("no memory")
            return
        }
        buffer.describeVideo(
            whole, offsets: whole.planeLayouts.map(\.offset),
            strides: whole.planeLayouts.map(\.stride))
        guard let mapped = MappedVideoFrame(buffer, info, .read) else {
            Issue.record("not mapped")
            return
        }
        let planes = (0..<mapped.planeCount).map { mapped.plane($0) }
        #expect(planes.map(\.layout.width) == [6, 3, 3])
        #expect(planes.map(\.layout.rows) == [6, 3, 3])
        #expect(planes.map(\.layout.stride) == [16, 8, 8])
    }
}
