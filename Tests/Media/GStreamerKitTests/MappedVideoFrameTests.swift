import GStreamerKit
import Testing

@Suite struct MappedVideoFrameTests {
    private func isMappable(
        _ buffer: borrowing Buffer, _ info: VideoInfo, _ access: MappedVideoFrame.Access
    ) -> Bool {
        if let _ = MappedVideoFrame(buffer, info, access) { true } else { false }
    }

    @Test func stridesComeFromTheFrameAndNotFromItsWidth() throws {
        let info = try VideoInfo(format: "I420", width: 6, height: 4)
        guard var buffer = Buffer.allocate(byteCount: 256) else {
            Issue.record("no memory")
            return
        }
        buffer.describeVideo(info, offsets: [0, 128, 192], strides: [32, 16, 16])
        let mapped = MappedVideoFrame(buffer, info, .read)
        guard let mapped else {
            Issue.record("not mapped")
            return
        }
        let planes = (0..<mapped.planeCount).map { mapped.plane($0) }
        #expect(planes.map(\.layout.stride) == [32, 16, 16])
        #expect(planes.map(\.layout.rows) == [4, 2, 2])
        #expect(planes.map(\.layout.width) == [6, 3, 3])
        let bases = planes.map { UInt(bitPattern: $0.memory.baseAddress) }
        #expect(bases[1] - bases[0] == 128 && bases[2] - bases[0] == 192)
        #expect(planes.map(\.memory.count) == [128, 32, 32])
    }

    @Test func aBufferTooSmallIsNotMapped() throws {
        let info = try VideoInfo(format: "BGRA", width: 64, height: 48)
        for count in [0, 1, info.byteCount - 1] {
            guard let buffer = Buffer.allocate(byteCount: count) else {
                Issue.record("no memory")
                return
            }
            check(!isMappable(buffer, info, .read))
        }
    }

    @Test func aLayoutBeyondTheBufferIsNotMapped() throws {
        let info = try VideoInfo(format: "GRAY8", width: 8, height: 8)
        guard var buffer = Buffer.allocate(byteCount: 64) else {
            Issue.record("no memory")
            return
        }
        buffer.describeVideo(info, offsets: [1000], strides: [8])
        check(!isMappable(buffer, info, .read))
    }

    @Test func aSharedBufferIsNotMappedForWriting() throws {
        let info = try VideoInfo(format: "GRAY8", width: 8, height: 8)
        guard let buffer = Buffer.allocate(byteCount: info.byteCount) else {
            Issue.record("no memory")
            return
        }
        do {
            let other = buffer.retained()
            check(!buffer.isWritable)
            check(!isMappable(buffer, info, .write))
            check(other.byteCount == info.byteCount)
        }
        check(buffer.isWritable)
        check(isMappable(buffer, info, .write))
    }
}
