import MediaCore
import Testing

/// Row accesses stay within the memory, even if a storage reports a wrong layout.
@Suite struct PlaneBoundsTests {
    fileprivate final class Liar: VideoFrameStorage {
        let format = VideoFormat(.gray8, width: 4, height: 4)
        let layout: VideoPlaneLayout
        var isWritable: Bool { true }

        init(_ layout: VideoPlaneLayout) { self.layout = layout }

        private func mapped(_ body: (PlaneList) -> Void) {
            withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) { memory in
                memory.initializeMemory(as: UInt8.self, repeating: 7)
                body(PlaneList(count: 1) { _ in MappedPlane(memory: memory, layout: layout) })
            }
        }

        func read(_ body: (borrowing VideoPlanes) -> Void) throws(FrameError) {
            mapped { body(VideoPlanes(unsafe: $0, format: format)) }
        }

        func write(_ body: (inout MutableVideoPlanes) -> Void) throws(FrameError) {
            mapped { plane in
                var planes = MutableVideoPlanes(unsafe: plane, formats: [format])
                body(&planes)
            }
        }

        func copy() throws(FrameError) -> any VideoFrameStorage { Liar(layout) }
    }

    @Test func lastRowIsAccessible() throws {
        var frame = lie(rows: 9)
        try frame.withPlanes { #expect($0[0].row(3).count == 4) }
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            #expect(plane.row(3).count == 4)
        }
    }

    @Test func rowBeyondTheMemoryTraps() async {
        await #expect(processExitsWith: .failure) {
            try lie(rows: 9).withPlanes { _ = $0[0].row(4) }
        }
        await #expect(processExitsWith: .failure) {
            var frame = lie(rows: 9)
            try frame.withMutablePlanes { planes in
                let plane = planes[0]
                _ = plane.row(4).count
            }
        }
        await #expect(processExitsWith: .failure) {
            try lie(rows: .max, stride: .max).withPlanes { _ = $0[0].row(.max - 1) }
        }
        await #expect(processExitsWith: .failure) {
            try lie(rows: 4).withPlanes { _ = $0[0].row(-1) }
        }
    }
}

/// A frame that declares `rows` rows, with memory for four rows of four bytes.
private func lie(rows: Int, stride: Int = 4) -> VideoFrame {
    VideoFrame(
        PlaneBoundsTests.Liar(
            VideoPlaneLayout(offset: 0, stride: stride, rows: rows, width: 4)), runningTime: nil)
}
