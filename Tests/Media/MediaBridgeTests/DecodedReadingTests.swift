import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// Frames read from strings that deliver encoded media.
@Suite(.hangGuard) struct DecodedReadingTests {
    private static let size = "video/x-raw,format=I420,width=64,height=48,framerate=30/1"

    private func read(_ text: String) async throws -> [VideoFrame] {
        let source = try PipelineVideoSource(text)
        var frames: [VideoFrame] = []
        for try await frame in source.frames() { frames.append(copy frame) }
        #expect(source.statistics.delivered == frames.count)
        return frames
    }

    private static let encoders: [(encoder: String, end: String, decoder: String)] = [
        ("x264enc tune=zerolatency", "h264parse", "avdec_h264"),
        ("x264enc bframes=2 b-adapt=false", "h264parse", "avdec_h264"),
        ("x265enc speed-preset=ultrafast ! h265parse", "h265parse", "avdec_h265"),
        ("vp8enc deadline=1", "video/x-vp8", "vp8dec"),
        ("vp9enc deadline=1 cpu-used=8", "video/x-vp9", "vp9dec"),
        ("jpegenc", "image/jpeg", "jpegdec"),
    ]

    /// Writes the film to a file, because no encoder repeats its output exactly on a busy machine.
    private func film(_ encoder: String, in path: String) async throws {
        try await Tool.check(
            "gst-launch-1.0",
            ["-q"]
                + ("videotestsrc num-buffers=60 pattern=ball ! \(Self.size) ! \(encoder) ! "
                + "matroskamux ! filesink location=\(path)").split(separator: " ").map(
                    String.init))
    }

    @Test(arguments: encoders.indices)
    func implicitDecodingMatchesADecoderInTheString(index: Int) async throws {
        let (encoder, end, decoder) = Self.encoders[index]
        try await withTemporaryDirectory { directory in
            let path = directory.file("film.mkv")
            try await film(encoder, in: path)
            let head = "filesrc location=\(path) ! matroskademux ! \(end)"
            let (ours, theirs) = (try await read(head), try await read("\(head) ! \(decoder)"))
            // VP9 drops frames if the machine is too slow.
            #expect(ours.count == theirs.count && ours.count > 30)
            #expect(ours.map(\.runningTime) == theirs.map(\.runningTime))
            #expect(try ours.map { try $0.rows } == theirs.map { try $0.rows })
        }
    }

    @Test func liveFramesCarryTheTimingOfTheirStream() async throws {
        let frames = try await read(
            "videotestsrc is-live=true num-buffers=20 ! \(Self.size) ! "
                + "x264enc tune=zerolatency ! h264parse")
        #expect(frames.count == 20)
        #expect(frames.allSatisfy { $0.liveTiming != nil })
    }

    @Test func codecMayChangeAndRawFramesMayFollow() async throws {
        let frames = try await read(
            "videotestsrc num-buffers=10 ! \(Self.size) ! x264enc bframes=2 ! h264parse ! c. "
                + "videotestsrc num-buffers=10 ! \(Self.size) ! jpegenc ! c. "
                + "videotestsrc num-buffers=10 ! \(Self.size) ! c. concat name=c")
        #expect(frames.count == 30)
        let times = frames.compactMap(\.runningTime)
        #expect(times == times.sorted())
    }

    @Test func nextLoopBeginsAfterOneIsLeft() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=100 ! \(Self.size) ! x264enc ! h264parse")
        for _ in 0..<5 {
            var count = 0
            for try await frame in source.frames() {
                if count == 0 { #expect(frame.runningTime == .zero) }
                count += 1
                if count == 7 { break }
            }
            #expect(count == 7)
        }
    }

    @Test func aCancelledLoopEnds() async throws {
        let isReading = Happening()
        let task = Task {
            let source = try PipelineVideoSource(
                "videotestsrc is-live=true ! \(Self.size) ! x264enc tune=zerolatency ! h264parse")
            var count = 0
            for try await _ in source.frames() {
                isReading.happen()
                count += 1
            }
            return count
        }
        await isReading.wait()
        task.cancel()
        #expect(try await task.value > 0)
    }

    @Test func undecodableUnitsAreCounted() async throws {
        let source = try PipelineVideoSource(
            "fakesrc num-buffers=10 sizetype=fixed sizemax=500 filltype=random format=time "
                + "datarate=5000 ! image/jpeg,width=16,height=16,framerate=10/1")
        var count = 0
        for try await _ in source.frames() { count += 1 }
        let statistics = source.statistics
        #expect(count == 0 && statistics.offered == 10 && statistics.delivered == 0)
        #expect(statistics.dropped[.undecodable] == 10)
    }

    @Test func errorNamesACodecWithoutADecoder() async throws {
        let source = try PipelineVideoSource("videotestsrc num-buffers=3 ! theoraenc")
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in source.frames() {}
        }
        #expect(error?.message.contains("theora") == true)
        #expect(error?.advice?.contains("decodebin") == true)
    }

    /// The frames before an error are read first.
    @Test func errorFollowsTheLastFrame() async throws {
        let source = try PipelineVideoSource(
            "videotestsrc num-buffers=50 ! \(Self.size) ! x264enc tune=zerolatency ! h264parse ! "
                + "identity error-after=21")
        var count = 0
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in source.frames() { count += 1 }
        }
        #expect(count == 20)
        #expect(error?.message.contains("Failed after iterations") == true)
    }

    private static let sounds = [
        "opusenc", "vorbisenc", "flacenc", "lamemp3enc ! mpegaudioparse", "avenc_aac ! aacparse",
        "avenc_ac3 ! ac3parse", "alawenc", "mulawenc",
    ]

    @Test(arguments: sounds)
    func encodedAudioIsDecoded(encoder: String) async throws {
        let rate = encoder.contains("law") ? 8000 : 48000
        let source = try PipelineAudioSource(
            "audiotestsrc num-buffers=50 samplesperbuffer=\(rate / 50) ! "
                + "audio/x-raw,rate=\(rate),channels=1 ! \(encoder)")
        var samples = 0
        var times: [MediaTime] = []
        for try await frame in source.frames() {
            samples += frame.sampleCount
            if let time = frame.runningTime { times.append(time) }
        }
        // Encoders add less than a tenth of a second at the ends.
        #expect(abs(samples - rate) <= rate / 10, "\(samples) samples of \(rate)")
        #expect(times == times.sorted() && (times.last ?? .zero) > MediaTime(seconds: 0.8))
    }
}
