import Glibc
import MediaCore
import Testing

/// Whether the process runs under AddressSanitizer or ThreadSanitizer.
private let isSanitized =
    dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

@Suite struct MemoryFrameStorageTests {
    @Test func aLayoutThatEndsWithTheMemoryIsTaken() throws {
        let plane = VideoPlaneLayout(offset: 4, stride: 8, rows: 3, width: 6)
        // The last row needs its samples, but not its padding.
        let storage = try wrapping(4 + 8 + 8 + 6, planes: [plane])
        try VideoFrame(storage, runningTime: nil).withPlanes { planes in
            #expect(planes.count == 1)
            let plane = planes[0]
            #expect(plane.bytes.byteCount == 22)
            #expect(plane.row(2).count == 6)
        }
    }

    @Test(arguments: [
        ("beyond the end", VideoPlaneLayout(offset: 0, stride: 8, rows: 5, width: 8)),
        ("by one byte", VideoPlaneLayout(offset: 1, stride: 8, rows: 4, width: 8)),
        ("an offset beyond the end", VideoPlaneLayout(offset: 33, stride: 8, rows: 1, width: 1)),
        ("a stride too small", VideoPlaneLayout(offset: 0, stride: 7, rows: 1, width: 8)),
        (
            "a stride too small for pixels of four bytes",
            VideoPlaneLayout(offset: 0, stride: 16, rows: 1, width: 5, pixelStride: 4)
        ),
        ("an enormous stride", VideoPlaneLayout(offset: 0, stride: .max, rows: 2, width: 8)),
        (
            "rows that overflow",
            VideoPlaneLayout(offset: 0, stride: 1 << 40, rows: 1 << 40, width: 8)
        ),
        ("an enormous width", VideoPlaneLayout(offset: 0, stride: 8, rows: 1, width: .max)),
        (
            "a width that overflows",
            VideoPlaneLayout(offset: 0, stride: .max, rows: 1, width: .max, pixelStride: 4)
        ),
        ("an enormous offset", VideoPlaneLayout(offset: .max, stride: 8, rows: 1, width: 8)),
        ("a negative offset", VideoPlaneLayout(offset: -1, stride: 8, rows: 1, width: 8)),
        ("no rows", VideoPlaneLayout(offset: 0, stride: 8, rows: 0, width: 8)),
        ("a negative stride", VideoPlaneLayout(offset: 0, stride: -8, rows: 1, width: 8)),
        ("no width", VideoPlaneLayout(offset: 0, stride: 8, rows: 1, width: 0)),
        (
            "a negative pixel",
            VideoPlaneLayout(offset: 0, stride: 8, rows: 1, width: 1, pixelStride: -1)
        ),
    ])
    func aLayoutThatDoesNotFitIsRefused(what: String, plane: VideoPlaneLayout) {
        let released = Counter()
        let good = VideoPlaneLayout(offset: 0, stride: 8, rows: 1, width: 8)
        for planes in [[plane], [good, plane]] {
            let error = #expect(throws: FrameError.self, "\(what)") {
                try wrapping(32, planes: planes, released: released)
            }
            #expect(error?.code == .badLayout)
        }
        #expect(released.value == 0, "memory that was not taken stays with the caller")
    }

    @Test func aPictureWithoutPlanesIsRefused() {
        let error = #expect(throws: FrameError.self) { try wrapping(32, planes: []) }
        #expect(error?.code == .badLayout)
    }

    @Test func oneRowOfAnEnormousStrideCanBeReadAndCopied() throws {
        let plane = VideoPlaneLayout(offset: 8, stride: .max, rows: 1, width: 8)
        var frame = VideoFrame(try wrapping(16, planes: [plane]), runningTime: nil)
        try frame.withPlanes { planes in
            let plane = planes[0]
            #expect(plane.row(0).count == 8)
            #expect(plane.bytes.byteCount == 8)
        }
        try frame.fill(9)
        #expect(try frame.firstByte() == 9)
    }

    @Test(arguments: [
        VideoPlaneLayout(offset: 0, stride: .max, rows: 2, width: 8),
        VideoPlaneLayout(offset: .max, stride: 8, rows: 1, width: 8),
        VideoPlaneLayout(offset: 1, stride: .max, rows: 1, width: 8),
        VideoPlaneLayout(offset: 0, stride: 0, rows: 1, width: 8),
        VideoPlaneLayout(offset: 0, stride: -8, rows: 2, width: 8),
    ])
    func allocatedMemoryRefusesAnImpossibleLayout(plane: VideoPlaneLayout) {
        let error = #expect(throws: FrameError.self) {
            try MemoryFrameStorage(
                format: VideoFormat(.gray8, width: 8, height: 1), planes: [plane])
        }
        #expect(error?.code == .badLayout)
    }

    @Test(.enabled(if: !isSanitized, "a sanitizer ends the process where malloc gives nil"))
    func failedAllocationIsAnError() {
        let plane = VideoPlaneLayout(offset: 0, stride: 1 << 50, rows: 8, width: 8)
        let error = #expect(throws: FrameError.self) {
            try MemoryFrameStorage(
                format: VideoFormat(.gray8, width: 8, height: 8), planes: [plane])
        }
        #expect(error?.code == .outOfMemory)
    }

    @Test func allocatedMemoryIsZeroedAndWritable() throws {
        let storage = try gray(5, 3, padding: 3)
        #expect(storage.isWritable)
        #expect(storage.bytes.count == 24)
        #expect(storage.bytes.allSatisfy { $0 == 0 })
    }

    @Test func theMemoryIsReleasedOnceWhenTheLastFrameGoes() throws {
        let released = Counter()
        let plane = VideoPlaneLayout(offset: 0, stride: 8, rows: 4, width: 8)
        var first: VideoFrame? = VideoFrame(
            try wrapping(32, planes: [plane], released: released), runningTime: nil)
        var second = first
        #expect(released.value == 0)
        first = nil
        #expect(released.value == 0)
        #expect(second != nil)
        second = nil
        #expect(released.value == 1)
        #expect(first == nil && second == nil)
    }

    @Test func aCopyDoesNotHoldTheMemory() throws {
        let released = Counter()
        let plane = VideoPlaneLayout(offset: 0, stride: 8, rows: 4, width: 8)
        var frame = VideoFrame(
            try wrapping(32, planes: [plane], released: released), runningTime: nil)
        // The memory is read-only, so writing moves the frame to new memory.
        try frame.fill(7)
        #expect(released.value == 1)
        #expect(try frame.firstByte() == 7)
    }

    @Test func planesGiveBytesAndStride() throws {
        var frame = VideoFrame(try gray(4, 3, padding: 12), runningTime: nil)
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            let layout = plane.layout
            #expect(layout.stride == 16 && layout.rows == 3 && layout.width == 4)
            plane.withUnsafeMutableBytes { bytes in
                for y in 0..<3 { for x in 0..<4 { bytes[y * 16 + x] = UInt8(10 * y + x) } }
            }
        }
        try frame.withPlanes { planes in
            let plane = planes[0]
            for y in 0..<3 {
                let row = plane.row(y)
                #expect(row.count == 4)
                for x in 0..<4 {
                    #expect(row[x] == UInt8(10 * y + x))
                }
            }
        }
    }
}
