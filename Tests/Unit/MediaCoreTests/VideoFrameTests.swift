import MediaCore
import Testing

@Suite struct VideoFrameTests {
    @Test func writingAnUnsharedFrameCopiesNothing() throws {
        var frame = VideoFrame(try gray(), runningTime: .zero)
        let before = try frame.address()
        #expect(try frame.fill(1) == before)
        #expect(try frame.fill(2) == before)
        #expect(try frame.firstByte() == 2)
    }

    @Test func writingASharedFrameCopiesAndLeavesTheOtherAlone() throws {
        var frame = VideoFrame(try gray(), runningTime: .zero)
        try frame.fill(1)
        var other = frame
        let before = try frame.address()
        #expect(try other.fill(2) != before)
        #expect(try frame.firstByte() == 1)
        #expect(try other.firstByte() == 2)
        #expect(try frame.address() == before)
        // Each frame has its own pixels now, so no further write copies them.
        #expect(try frame.fill(3) == before)
        let own = try other.address()
        #expect(try other.fill(4) == own)
        #expect(try frame.firstByte() == 3)
    }

    @Test func readOnlyMemoryIsNeverWritten() throws {
        let plane = VideoPlaneLayout(offset: 0, stride: 4, rows: 3, width: 4)
        let storage = try wrapping(12, planes: [plane], writable: false)
        var frame = VideoFrame(storage, runningTime: .zero)
        try frame.fill(9)
        #expect(storage.bytes.allSatisfy { $0 == 0 })
        #expect(try frame.firstByte() == 9)
    }

    private struct Refusal: Error, Equatable { let number: Int }

    @Test func errorInTheBodyIsRethrown() throws {
        var frame = VideoFrame(try gray(), runningTime: .zero)
        #expect(throws: Refusal(number: 1)) {
            try frame.withPlanes { _ in throw Refusal(number: 1) }
        }
        #expect(throws: Refusal(number: 2)) {
            try frame.withMutablePlanes { _ in throw Refusal(number: 2) }
        }
        try frame.fill(5)
        #expect(try frame.firstByte() == 5)
    }

    @Test func copiesCarryTimeRotationAndMetadata() throws {
        let timing = LiveTiming(clockOrigin: MediaTime(seconds: 7), latency: MediaTime(seconds: 1))
        var frame = VideoFrame(
            try gray(), runningTime: MediaTime(seconds: 1), duration: MediaTime(seconds: 2),
            rotation: .rotation90, metadata: ["lens": "wide"], liveTiming: timing)
        var copy = frame
        try copy.fill(1)
        let other = frame.replacingPixels(try gray(8, 8))
        for one in [copy, other] {
            #expect(one.runningTime == MediaTime(seconds: 1))
            #expect(one.duration == MediaTime(seconds: 2))
            #expect(one.rotation == .rotation90)
            #expect(one.metadata == ["lens": "wide"])
            #expect(one.liveTiming == timing)
        }
        #expect(other.width == 8 && other.height == 8)

        frame.metadata["lens"] = "tele"
        frame.rotation = .rotation180
        #expect(copy.metadata == ["lens": "wide"])
        #expect(copy.rotation == .rotation90)
    }

    @Test func frameDescriptionStatesFormatAndTime() throws {
        var frame = VideoFrame(try gray(), runningTime: MediaTime(seconds: 1.04))
        #expect(frame.description == "GRAY8 4×3 at 0:00:01.040000000")
        frame.runningTime = nil
        #expect(frame.description == "GRAY8 4×3 at no time")
    }
}
