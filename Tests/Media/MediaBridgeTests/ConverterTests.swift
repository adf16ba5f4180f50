import TestSupport
import Testing

@testable import MediaBridge

/// GStreamer's converters as an engine uses them.
@Suite(.hangGuard) struct ConverterTests {
    private static let formats: [VideoPixelFormat] = [
        .i420, .nv12, .nv21, .i422, .bgra, .rgba, .argb, .gray8, "YUY2", "RGB", "I420_10LE",
    ]
    private static let sizes = [(8, 6), (7, 5), (5, 9), (1, 3), (2, 1)].map {
        VideoSize(width: $0.0, height: $0.1)
    }

    /// The `videoflip` name of each rotation followed by the mirror.
    private static let directions: [(VideoRotation, Bool, String)] = [
        (.rotation90, false, "90r"), (.rotation180, false, "180"), (.rotation270, false, "90l"),
        (.upright, true, "horiz"), (.rotation90, true, "ul-lr"), (.rotation180, true, "vert"),
        (.rotation270, true, "ur-ll"),
    ]

    @Test(arguments: formats)
    func everyRotationAndMirrorMatchesVideoflip(format: VideoPixelFormat) throws {
        let converter = FrameConverter()
        // Planar 4:2:2 is the only format that videoflip does not support.
        let convert = format == .i422 ? "videoconvert ! " : ""
        for size in Self.sizes {
            let frame = try DefinedPicture.frame(format, size)
            for (rotation, isMirrored, direction) in Self.directions {
                let made = try converter.convert(
                    frame, to: VideoConversion(rotation: rotation, isMirrored: isMirrored))
                let expected = try frame.through(
                    "\(convert)videoflip video-direction=\(direction) ! \(convert)"
                        + "capsfilter caps=video/x-raw,format=\(format)")
                #expect(made.format == expected.format)
                #expect(made.format.pixelFormat == format)
                #expect(try made.rows == expected.rows, "\(format) \(size) \(direction)")
            }
        }
    }

    /// The same without GStreamer as the reference: checks where each pixel goes.
    @Test(arguments: VideoRotation.allCases, [false, true])
    func frameIsRotatedClockwiseAndThenMirrored(
        rotation: VideoRotation, isMirrored: Bool
    ) throws {
        let size = VideoSize(width: 5, height: 3)
        let frame = try DefinedPicture.frame(.gray8, size)
        let before = try frame.rows[0]
        let turns = rotation == .rotation90 || rotation == .rotation270
        let (width, height) = turns ? (3, 5) : (5, 3)
        let expected = (0..<height).map { y in
            (0..<width).map { x -> UInt8 in
                let x = isMirrored ? width - 1 - x : x
                return switch rotation {
                case .upright: before[y][x]
                case .rotation90: before[2 - x][y]
                case .rotation180: before[2 - y][4 - x]
                case .rotation270: before[x][4 - y]
                }
            }
        }
        let made = try FrameConverter().convert(
            frame, to: VideoConversion(rotation: rotation, isMirrored: isMirrored))
        #expect(try made.rows == [expected])
    }

    @Test func rotationMirrorSizeAndFormatApplyInThisOrder() throws {
        // The left half is black and the right half white; after the rotation the upper half is
        // black.
        var frame = try VideoFrame(
            VideoFormat(.gray8, width: 8, height: 4), runningTime: .zero)
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            let stride = plane.stride
            plane.withUnsafeMutableBytes { bytes in
                for y in 0..<4 { for x in 0..<8 { bytes[y * stride + x] = x < 4 ? 0 : 255 } }
            }
        }
        let made = try FrameConverter().convert(
            frame,
            to: VideoConversion(
                pixelFormat: .rgba, size: VideoSize(width: 8, height: 16), rotation: .rotation90))
        #expect(made.format.pixelFormat == .rgba && made.width == 8 && made.height == 16)
        let rows = try made.rows[0]
        #expect(rows[0].allSatisfy { $0 == 0 || $0 == 255 })
        #expect(Array(rows[1].prefix(4)) == [0, 0, 0, 255])
        #expect(Array(rows[14].prefix(4)) == [255, 255, 255, 255])
    }

    @Test func anotherAspectRatioGetsBorders() throws {
        var frame = try VideoFrame(
            VideoFormat(.gray8, width: 16, height: 16), runningTime: .zero)
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            plane.fill(255)
        }
        let wide = VideoConversion(size: VideoSize(width: 32, height: 16))
        let rows = try FrameConverter().convert(frame, to: wide).rows[0]
        #expect(rows.count == 16)
        for row in rows {
            #expect(Array(row.prefix(8)) == [UInt8](repeating: row[0], count: 8) && row[0] < 20)
            #expect(Array(row[8..<24]) == [UInt8](repeating: 255, count: 16))
            #expect(row[31] < 20)
        }
    }

    @Test func fillingAnotherAspectRatioCropsAroundTheCentre() throws {
        var frame = try VideoFrame(
            VideoFormat(.gray8, width: 32, height: 16), runningTime: .zero)
        try frame.withMutablePlanes { planes in
            let plane = planes[0]
            for y in 0..<16 {
                var row = plane.row(y)
                for x in 0..<32 {
                    let isMiddle = (8..<24).contains(x)
                    row[x] = isMiddle ? 255 : 0
                }
            }
        }
        let square = VideoConversion(size: VideoSize(width: 16, height: 16), fillsSize: true)
        let rows = try FrameConverter().convert(frame, to: square).rows[0]
        #expect(rows.count == 16)
        #expect(rows.allSatisfy { Array($0) == [UInt8](repeating: 255, count: 16) })
    }

    @Test func scalingMakesPixelsSquare() throws {
        var format = VideoFormat(.gray8, width: 16, height: 16)
        format.pixelAspectRatio = VideoFormat.Rational(2, 1)
        let frame = try VideoFrame(format, runningTime: .zero)
        let converter = FrameConverter()
        let made = try converter.convert(
            frame, to: VideoConversion(size: VideoSize(width: 32, height: 16)))
        #expect(made.format.pixelAspectRatio == VideoFormat.Rational(1, 1))
        #expect(made.width == 32 && made.height == 16)
        // A rotation without scaling also rotates the pixel aspect ratio.
        let turned = try converter.convert(frame, to: VideoConversion(rotation: .rotation90))
        #expect(turned.format.pixelAspectRatio == VideoFormat.Rational(1, 2))
    }

    @Test func identityConversionReturnsTheSameFrame() throws {
        let frame = try DefinedPicture.frame(.i420, VideoSize(width: 6, height: 4))
        let converter = FrameConverter()
        for conversion in [
            VideoConversion(), VideoConversion(pixelFormat: .any),
            VideoConversion(pixelFormat: .i420, size: VideoSize(width: 6, height: 4)),
        ] {
            #expect(try converter.convert(frame, to: conversion).storage === frame.storage)
        }
        #expect(converter.chains == 0)
    }

    @Test func conversionKeepsTimesRotationAndMetadata() throws {
        var frame = try DefinedPicture.frame(.i420, VideoSize(width: 6, height: 4))
        frame.runningTime = MediaTime(nanoseconds: -7)
        frame.duration = MediaTime(nanoseconds: 9)
        frame.rotation = .rotation90
        frame.metadata = ["lens": "wide"]
        frame.liveTiming = LiveTiming(clockOrigin: MediaTime(seconds: 5), latency: .zero)
        let made = try FrameConverter().convert(
            frame, to: VideoConversion(pixelFormat: .bgra, rotation: .rotation90))
        #expect(made.storage !== frame.storage)
        #expect(made.runningTime == frame.runningTime && made.duration == frame.duration)
        #expect(made.metadata == frame.metadata && made.liveTiming == frame.liveTiming)
        #expect(made.rotation == .rotation90, "the caller sets the rotation of a rotated frame")
    }

    @Test func framesInProgramMemoryAreConverted() throws {
        let size = VideoSize(width: 7, height: 5)
        let planes = try VideoPixelFormat.nv12.packedPlanes(size, strideInPixels: 11)
        let storage = try DefinedPicture.bytes(planes).withUnsafeBytes { bytes in
            try RawPicture(unsafe: bytes, format: .nv12, size: size, strideInPixels: 11)
                .copied()
        }
        let conversion = VideoConversion(pixelFormat: .i420)
        let made = try FrameConverter().convert(
            VideoFrame(storage, runningTime: .zero), to: conversion)
        let rows = try DefinedPicture.frame(.nv12, size).rows
        #expect(try made.rows[0] == rows[0], "luma is not touched")
        #expect(
            try made.rows[1] == rows[1].map { row in stride(from: 0, to: 8, by: 2).map { row[$0] } }
        )
        #expect(
            try made.rows[2] == rows[1].map { row in stride(from: 1, to: 8, by: 2).map { row[$0] } }
        )
    }

    @Test func converterKeepsALimitedNumberOfChains() throws {
        let converter = FrameConverter()
        for round in 0..<3 {
            for width in 1...20 {
                let frame = try DefinedPicture.frame(.i420, VideoSize(width: width, height: 4))
                let conversion = VideoConversion(
                    pixelFormat: .rgba, isMirrored: width.isMultiple(of: 2))
                let made = try converter.convert(frame, to: conversion)
                #expect(made.width == width && made.format.pixelFormat == .rgba)
                #expect(
                    converter.chains == min(round * 20 + width, FrameConverter.capacity))
            }
        }
    }

    @Test func framesWithEqualCapsShareAChain() throws {
        let converter = FrameConverter()
        let conversion = VideoConversion(pixelFormat: .rgba)
        for _ in 0..<4 {
            // Each frame has its own caps.
            let frame = try DefinedPicture.frame(.i420, VideoSize(width: 8, height: 4))
            _ = try converter.convert(frame, to: conversion)
        }
        #expect(converter.chains == 1)
    }

    @Test(arguments: [
        VideoConversion(pixelFormat: "NOSUCH"),
        VideoConversion(pixelFormat: "I420, width=7 ! filesink location=/tmp/x"),
        VideoConversion(pixelFormat: ""), VideoConversion(pixelFormat: "ENCODED"),
        VideoConversion(size: VideoSize(width: 0, height: 4)),
        VideoConversion(size: VideoSize(width: -4, height: 4)),
        VideoConversion(size: VideoSize(width: 16384, height: 4)),
        VideoConversion(size: VideoSize(width: .max, height: .max)),
    ])
    func invalidConversionIsAnErrorAndTheNextSucceeds(conversion: VideoConversion) throws {
        let converter = FrameConverter()
        let frame = try DefinedPicture.frame(.i420, VideoSize(width: 8, height: 4))
        #expect(throws: (any Error).self) { try converter.convert(frame, to: conversion) }
        #expect(converter.chains == 0)
        let made = try converter.convert(frame, to: VideoConversion(pixelFormat: .rgba))
        #expect(made.format.pixelFormat == .rgba)
    }

    @Test func concurrentCallersGetTheirOwnResults() async throws {
        let converter = FrameConverter()
        let wrong = await withTaskGroup { group in
            for task in 1...4 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<60 {
                        let size = VideoSize(width: task * 4, height: 2 + round % 3)
                        let conversion = VideoConversion(
                            rotation: .rotation90, isMirrored: task.isMultiple(of: 2))
                        guard let frame = try? DefinedPicture.frame(.gray8, size),
                            let made = try? converter.convert(frame, to: conversion),
                            let rows = try? made.rows[0], let before = try? frame.rows[0],
                            rows.count == size.width, rows[0].count == size.height,
                            rows[0].sorted() == before.map({ $0[0] }).sorted()
                        else {
                            wrong += 1
                            continue
                        }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test func backendMakesAConverterForEachStream() throws {
        let backend = GStreamerBackend()
        let (a, b) = (backend.clockTime(), backend.clockTime())
        #expect(a <= b && a > .zero)
        let frame = try DefinedPicture.frame(.i420, VideoSize(width: 8, height: 4))
        let made = try backend.makeConverter().convert(
            frame, to: VideoConversion(pixelFormat: .nv12))
        #expect(made.format.pixelFormat == .nv12)
    }
}
