import MediaCore
import TestSupport
import Testing

/// The built-in detectors of pictures, on pictures of 16 × 16 pixels, five a second.
@Suite(.hangGuard) struct PictureDetectorTests {
    /// A grey picture with a white box, whose pixels are `box` levels brighter than the others.
    private func picture(
        _ index: Int, level: UInt8 = 60, boxAt x: Int? = nil, brighter box: UInt8 = 100
    ) throws -> VideoFrame {
        var frame = VideoFrame(
            try gray(16, 16, padding: 3), runningTime: MediaTime(seconds: Double(index) / 5))
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            plane.fill(level)
            guard let x else { return }
            for y in 4..<8 {
                var row = plane.row(y)
                row.withUnsafeMutableBytes { row in
                    for column in x..<x + 4 { row[column] = level + box }
                }
            }
        }
        return frame
    }

    private func findings(
        _ detector: PictureDetector, _ pictures: [VideoFrame]
    ) throws -> [Finding] {
        var detector = detector
        return try pictures.map { try detector.inspect($0) }
    }

    @Test func motionIsPresentWhileAnObjectMoves() throws {
        let pictures = try [0, 0, 4, 8, 8].enumerated().map { try picture($0, boxAt: $1) }
        let found = try findings(PictureDetector.motion, pictures)
        #expect(found.map(\.isPresent) == [false, false, true, true, false])
        // Two boxes of 16 pixels of 256.
        #expect(found.map(\.score) == [0, 0, 0.125, 0.125, 0])
    }

    @Test func slowMotionIsFoundInManyPicturesPerSecond() throws {
        var detector = PictureDetector.motion
        let found = try (0..<50).map { index in
            var frame = try picture(0, boxAt: index / 10)
            frame.runningTime = MediaTime(seconds: Double(index) / 50)
            return try detector.inspect(frame).isPresent
        }
        #expect(found.firstIndex(of: true) == 10)
        #expect(found[10...].allSatisfy { $0 })
    }

    @Test func brightnessChangeIsNotMotion() throws {
        let pictures = try [60, 60, 160, 160].enumerated().map {
            try picture($0, level: $1, boxAt: 2, brighter: 60)
        }
        #expect(try findings(PictureDetector.motion, pictures).allSatisfy { !$0.isPresent })
    }

    @Test func sizeChangeIsNotMotion() throws {
        var detector = PictureDetector.motion
        _ = try detector.inspect(picture(0))
        let other = VideoFrame(try gray(8, 8), runningTime: MediaTime(seconds: 0.2))
        #expect(try detector.inspect(other) == Finding(false, score: 0))
    }

    @Test func motionOutsideTheAreaIsIgnored() throws {
        var detector = PictureDetector.motion
        detector.area = (0, 0.5, 1, 1)
        let pictures = try [0, 4, 8].enumerated().map { try picture($0, boxAt: $1) }
        #expect(try findings(detector, pictures).allSatisfy { $0 == Finding(false, score: 0) })
        detector.area = (0, 0.25, 1, 0.5)
        #expect(try findings(detector, pictures).map(\.score) == [0, 0.5, 0.5])
    }

    @Test(arguments: [(0, false), (0.5, true), (1, true)])
    func sensitivitySetsTheMotionThreshold(sensitivity: Double, isFound: Bool) throws {
        var detector = PictureDetector.motion
        detector.sensitivity = sensitivity
        // 16 pixels of 256 differ: 6 %.
        let pictures = [try picture(0), try picture(1, boxAt: 3)]
        #expect(try findings(detector, pictures)[1].isPresent == isFound)
    }

    @Test func aCoveredLensIsBlack() throws {
        let pictures = [
            try picture(0, level: 20), try picture(1, level: 60), try picture(2, level: 33),
        ]
        let found = try findings(PictureDetector.black, pictures)
        #expect(found.map(\.isPresent) == [true, false, false])
        #expect(found.map(\.score) == [1, 0, 0])
        let box = [try picture(0, level: 16, boxAt: 0)]
        #expect(try findings(PictureDetector.black, box) == [Finding(false, score: 0.9375)])
    }

    @Test func unchangedPictureIsFrozenAfterTwoSeconds() throws {
        let still = try (0...10).map { try picture($0, level: UInt8(60 + $0 % 2 * 4)) }
        let moving = [try picture(11, boxAt: 0), try picture(12, boxAt: 0)]
        let found = try findings(PictureDetector.frozen, still + moving)
        #expect(found.map(\.isPresent).firstIndex(of: true) == 10)
        #expect(found[11...].allSatisfy { !$0.isPresent })
        #expect(found[11].score == 0.9375)
    }

    @Test func framesWithoutLumaAreRefused() throws {
        var detector = PictureDetector.motion
        let frame = VideoFrame(
            try MemoryFrameStorage(
                format: VideoFormat(.bgra, width: 4, height: 4),
                planes: [VideoPlaneLayout(offset: 0, stride: 16, rows: 4, width: 4, pixelStride: 4)]
            ),
            runningTime: .zero)
        #expect(throws: FrameError.self) { try detector.inspect(frame) }
    }
}
