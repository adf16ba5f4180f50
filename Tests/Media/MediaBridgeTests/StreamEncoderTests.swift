import Foundation
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// Encoders of live streams output each unit at once, with the time of its frame.
@Suite(.hangGuard) struct StreamEncoderTests {
    private final class Units: VideoFrameConsumer {
        let all = Observed<[EncodedVideoFrame]>([])
        let failure = Observed<String?>(nil)
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            .dropped(.wrongBufferType)
        }
        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
            all.change { $0.append(unit) }
            return .accepted
        }
        func sourceDidFail(_ error: any Error) { failure.change { $0 = "\(error)" } }
    }

    static let codecs: [VideoCodec] = [.h264, .vp8]

    /// Frames of noise, which need many bits.
    private static func frames(
        _ count: Int, _ width: Int = 160, _ height: Int = 120, format: String = "I420"
    ) async throws -> [VideoFrame] {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=\(count) pattern=snow ! "
                + "video/x-raw,format=\(format),width=\(width),height=\(height),framerate=30/1")
        var frames: [VideoFrame] = []
        for try await frame in source.frames() { frames.append(frame) }
        return frames
    }

    /// Encodes one frame after the other; the encoder has room again when its unit arrives.
    private static func encode(
        _ frames: [VideoFrame], _ settings: VideoEncoderSettings,
        _ change: (Int, any VideoEncoder) -> Void = { _, _ in }
    ) async throws -> [EncodedVideoFrame] {
        let units = Units()
        let encoder = try PipelineEncoder(settings, to: units)
        for (index, frame) in frames.enumerated() {
            change(index, encoder)
            #expect(encoder.encode(frame) == .accepted)
            // No reordering or delay: the unit arrives before the next frame.
            await units.all.wait { $0.count > index }
        }
        try await onControl { encoder.stop() }
        #expect(units.failure.value == nil)
        return units.all.value
    }

    @Test(arguments: codecs)
    func eachFrameIsEncodedImmediatelyWithItsTime(codec: VideoCodec) async throws {
        var frames = try await Self.frames(20)
        for index in frames.indices {
            frames[index].rotation = .rotation90
            // An independent clock, with times before zero too.
            frames[index].runningTime = MediaTime(.milliseconds(index * 33 - 200))
        }
        let units = try await Self.encode(frames, VideoEncoderSettings(codec, bitRate: 500_000))
        #expect(units.map(\.runningTime) == frames.map(\.runningTime))
        #expect(units.allSatisfy { $0.codec == codec && $0.rotation == .rotation90 })
        #expect(units.map(\.isKeyFrame) == [true] + [Bool](repeating: false, count: 19))
        #expect(units.first?.size == VideoSize(width: 160, height: 120))
    }

    @Test func hardwareEncoderIsUsedWhereItIsChosen() async throws {
        _ = try StandInEncoder("vah264enc", "x264enc")
        var settings = VideoEncoderSettings(.h264, bitRate: 500_000)
        settings.encoder = .hardware
        #expect(try PipelineEncoder(settings, to: Units()).name == "vah264enc")
        let units = try await Self.encode(Self.frames(20), settings) { index, encoder in
            if index == 7 { encoder.requestKeyFrame() }
            if index == 10 { encoder.setBitRate(400_000) }
        }
        #expect(units.indices.prefix(10).filter { units[$0].isKeyFrame } == [0, 7])
        settings.encoder = .element("vah264enc")
        settings.avoided = ["vah264enc"]
        #expect(throws: PipelineError.self) { try PipelineEncoder(settings, to: Units()) }
        settings.encoder = .automatic
        #expect(try PipelineEncoder(settings, to: Units()).name == "x264enc")
    }

    @Test(arguments: codecs)
    func keyframesComeOnRequestAndAtTheInterval(codec: VideoCodec) async throws {
        let settings = VideoEncoderSettings(
            codec, bitRate: 500_000, keyFrameInterval: .milliseconds(500))
        let units = try await Self.encode(Self.frames(40), settings) { index, encoder in
            if index == 7 { encoder.requestKeyFrame() }
        }
        let keys = units.indices.filter { units[$0].isKeyFrame }
        #expect(keys.starts(with: [0, 7]) && keys.count >= 3)
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $1 - $0 <= 15 })
    }

    @Test(arguments: codecs)
    func earlyKeyframeRequestDoesNotHideALaterOne(codec: VideoCodec) async throws {
        let settings = VideoEncoderSettings(codec, bitRate: 500_000)
        let units = try await Self.encode(Self.frames(15), settings) { index, encoder in
            if index % 5 == 0 { encoder.requestKeyFrame() }
        }
        #expect(units.indices.filter { units[$0].isKeyFrame } == [0, 5, 10])
    }

    /// After a change of size or format no unit is missing, and the first one is a keyframe.
    @Test(arguments: codecs)
    func newFormatBeginsWithAKeyframe(codec: VideoCodec) async throws {
        var frames = try await Self.frames(6)
        for part in [
            try await Self.frames(6, 320, 240), try await Self.frames(6, 96, 64, format: "BGRA"),
            try await Self.frames(6, 1280, 720),
        ] {
            let last = try #require(frames.last?.runningTime)
            for var frame in part {
                frame.runningTime =
                    last + MediaTime(.milliseconds(33)) + (frame.runningTime ?? .zero)
                frames.append(frame)
            }
        }
        let units = try await Self.encode(frames, VideoEncoderSettings(codec, bitRate: 2_000_000))
        #expect(units.count == 24)
        #expect(units.indices.filter { units[$0].isKeyFrame } == [0, 6, 12, 18])
        let sizes = [0, 6, 12].map { units[$0].size }
        #expect(
            sizes == [
                VideoSize(width: 160, height: 120), VideoSize(width: 320, height: 240),
                VideoSize(width: 96, height: 64),
            ])
        // The whole stream can be decoded.
        let pictures = Observed(0)
        final class Screen: VideoFrameConsumer {
            let count: Observed<Int>
            init(_ count: Observed<Int>) { self.count = count }
            func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
                count.change { $0 += 1 }
                return .accepted
            }
            func sourceDidFail(_ error: any Error) {}
        }
        let decoder = try PipelineDecoder(codec, to: Screen(pictures))
        try await onControl {
            for unit in units { #expect(decoder.decodeWaiting(unit) == .accepted) }
            decoder.drain()
            decoder.stop()
        }
        #expect(pictures.value == 24)
    }

    /// Noise uses all available bits.
    @Test(arguments: codecs)
    func bitRateIsKeptAndCanChange(codec: VideoCodec) async throws {
        let units = try await Self.encode(
            Self.frames(180, 320, 240), VideoEncoderSettings(codec, bitRate: 6_000_000)
        ) { index, encoder in
            if index == 90 { encoder.setBitRate(3_000_000) }
        }
        func bitRate(_ part: Range<Int>) -> Int {
            units[part].map(\.byteCount).reduce(0, +) * 8 * 30 / part.count
        }
        let (before, after) = (bitRate(30..<90), bitRate(120..<180))
        #expect((4_500_000...9_000_000).contains(before), "\(before)")
        #expect((2_000_000...4_400_000).contains(after), "\(after)")
        #expect(units.count { $0.isKeyFrame } == 1)
    }

    @Test func framesWithoutAFrameRateAreNotHeldBack() async throws {
        let format = VideoFormat(.i420, width: 64, height: 48)
        let frames = try (0..<10).map {
            try VideoFrame(format, runningTime: MediaTime(value: $0, timescale: 25))
        }
        #expect(frames.allSatisfy { $0.format.frameRate == nil })
        let units = try await Self.encode(
            frames, VideoEncoderSettings(.h264, bitRate: 500_000))
        #expect(units.map(\.runningTime) == frames.map(\.runningTime))
    }

    @Test func unencodableFrameIsRefusedWithItsCause() async throws {
        let units = Units()
        let encoder = try PipelineEncoder(
            VideoEncoderSettings(.h264, bitRate: 500_000), to: units)
        let odd = try #require(try await Self.frames(1, 161, 120).first)
        #expect(encoder.encode(odd) == .dropped(.badSize))
        var frame = try #require(try await Self.frames(1).first)
        frame.runningTime = nil
        #expect(encoder.encode(frame) == .dropped(.noTime))
        frame.runningTime = MediaTime(seconds: 1)
        #expect(encoder.encode(frame) == .accepted)
        #expect(encoder.encode(frame) == .dropped(.backwards))
        try await onControl { encoder.stop() }
        #expect(units.all.value.count == 1)
        #expect(encoder.encode(frame) == .dropped(.closed))
        try await onControl { encoder.stop() }
    }

    @Test func aCodecWithoutAnEncoderIsAnError() {
        let error = #expect(throws: PipelineError.self) {
            _ = try PipelineEncoder(VideoEncoderSettings(.mjpeg, bitRate: 1), to: Units())
        }
        #expect(error?.code == .badValue)
        #expect(GStreamerBackend().encodableCodecs == [.h264, .vp8])
    }
}
