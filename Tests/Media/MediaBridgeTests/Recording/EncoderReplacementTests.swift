import GStreamerKit
import MediaBridge
import TestSupport
import Testing

/// Another encoder takes over from one that fails while it records.
@Suite(.hangGuard, .serialized) struct EncoderReplacementTests {
    private let h264, vp9: StandInEncoder

    init() throws {
        try GStreamer.initialize()
        h264 = try StandInEncoder("qsvh264enc", "x264enc")
        vp9 = try StandInEncoder("vavp9enc", "vp9enc")
    }

    private struct Outcome {
        var report: RecorderReport
        var warnings: [PipelineError] = []
        var newFiles: [RecorderEvent.Reason] = []
        /// The times of the frames in all files, each from the beginning of its file, in seconds.
        var times: [[Double]] = []
        var codecs: [String] = []
    }

    private func record(
        _ encoder: StandInEncoder, _ ending: String, frames: Int, isLive: Bool = false,
        length: Duration? = nil, codec: VideoCodec? = nil, changesFormat: Bool = false,
        bitRate: Int? = nil
    ) async throws -> Outcome {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.segments = length.map { RecordingSegments(length: $0) }
            var encoding = VideoEncoding(codec, bitRate: bitRate)
            encoding.encoder = .element(encoder.name)
            encoding.keyFrameInterval = .milliseconds(500)
            configuration.video = encoding
            configuration.audio = AudioEncoding()
            let half = "video/x-raw,format=I420,height=48,framerate=30/1"
            let picture =
                changesFormat
                ? "concat name=c ! appsink name=video "
                    + "videotestsrc num-buffers=\(frames / 2) ! \(half),width=64 ! c. "
                    + "videotestsrc num-buffers=\(frames - frames / 2) ! \(half),width=80 ! c. "
                : "videotestsrc num-buffers=\(frames) is-live=\(isLive) ! \(half),width=64 "
                    + "! appsink name=video "
            var plan = BridgePlan(
                capture: picture + "audiotestsrc num-buffers=\(frames) samplesperbuffer=1600 "
                    + "is-live=\(isLive) ! audio/x-raw,rate=48000 ! appsink name=audio",
                outputs: [])
            plan.recordings = [
                BridgePlan.Recording(
                    path: directory.file("out.\(ending)"), configuration: configuration)
            ]
            let bridge = try Bridge(plan)
            let recorder = bridge.recorders[0]
            let events = recorder.events
            try await bridge.run().get()
            var outcome = Outcome(report: recorder.report)
            for await event in events {
                if case .warning(let warning) = event { outcome.warnings.append(warning) }
                if case .fileStarted(_, let reason) = event { outcome.newFiles.append(reason) }
                if case .finished = event { break }
            }
            for file in outcome.report.files {
                outcome.times.append(try await MediaProbe.videoTimes(of: file.path))
                outcome.codecs.append(try await MediaProbe(of: file.path).video?.codec ?? "")
            }
            return outcome
        }
    }

    /// Checks that every frame is in the files, and that one message reports the replacement.
    private func check(
        _ outcome: Outcome, frames: Int, _ encoder: StandInEncoder, by other: String,
        isLive: Bool = false, atMost most: Int = 1
    ) {
        let track = outcome.report.video
        let written = outcome.times.map(\.count).reduce(0, +)
        #expect(written == track?.balance.delivered && outcome.report.failure == nil)
        // A busy machine evicts frames of a live capture; the encoder may then end before it fails.
        let lost = frames - written
        #expect(lost == 0 || isLive, "\(outcome)")
        #expect(track.map { $0.offered == $0.written + $0.dropped.total } == true, "\(outcome)")
        for times in outcome.times where lost == 0 {
            for (earlier, later) in zip(times, times.dropFirst()) {
                #expect(abs(later - earlier - 1.0 / 30) < 0.002, "\(times)")
            }
        }
        if lost > 0, outcome.warnings.isEmpty { return }
        #expect((1...most).contains(outcome.warnings.count))
        let text = outcome.warnings.first?.message ?? ""
        #expect(
            text.contains("the encoder \(encoder.name) failed")
                && text.contains("\(other) encodes"),
            "\(text)")
        #expect(track?.encoder == other)
    }

    @Test(arguments: [1, 2, 30, 89], ["mkv", "mp4", "ts"])
    func encoderReplacementKeepsEveryFrame(after: Int, ending: String) async throws {
        h264.set(.fails, after: after)
        let outcome = try await record(h264, ending, frames: 90)
        check(outcome, frames: 90, h264, by: "x264enc")
        #expect(outcome.times.count == 2, "\(outcome.newFiles)")
    }

    @Test func randomEncoderFailureKeepsEveryFrame() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<8 {
            let frames = Int.random(in: 40...110, using: &random)
            let fault = [StandInEncoder.Fault.fails, .refusesToOpen].randomElement(using: &random)!
            let ending = ["mkv", "mp4", "ts", "webm"].randomElement(using: &random)!
            let length = [nil, Duration.seconds(1)].randomElement(using: &random)!
            let isLive = Bool.random(using: &random)
            let changesFormat = !isLive && Bool.random(using: &random)
            let after = Int.random(in: 1..<(changesFormat ? frames / 2 : frames), using: &random)
            let encoder = ending == "webm" ? vp9 : h264
            encoder.set(fault, after: after)
            let outcome = try await record(
                encoder, ending, frames: frames, isLive: isLive, length: length,
                codec: ending == "webm" ? .vp9 : .h264, changesFormat: changesFormat)
            print(
                "\(fault) after \(after) of \(frames) in \(ending), length \(length as Any), "
                    + "live \(isLive), format changes \(changesFormat): \(outcome.newFiles)")
            check(
                outcome, frames: frames, encoder, by: ending == "webm" ? "vp9enc" : "x264enc",
                isLive: isLive,
                // The encoder of the second format may begin before that of the first has failed.
                atMost: changesFormat ? 2 : 1)
        }
    }

    @Test func lateEncoderLosesNoFrame() async throws {
        h264.set(.isLate)
        let outcome = try await record(h264, "mkv", frames: 90)
        #expect(outcome.times.map(\.count) == [90] && outcome.warnings.isEmpty, "\(outcome)")
    }

    @Test func encoderWithoutOutputIsReplaced() async throws {
        h264.set(.isSilent, after: 20)
        let outcome = try await record(h264, "mkv", frames: 150)
        check(outcome, frames: 150, h264, by: "x264enc")
        #expect(outcome.warnings.first?.message.contains("none of the last 64") == true)
    }

    @Test func unresponsiveEncoderIsReplaced() async throws {
        h264.set(.blocks, after: 20)
        defer { h264.set(nil) }
        let outcome = try await record(h264, "mkv", frames: 40)
        check(outcome, frames: 40, h264, by: "x264enc")
        #expect(outcome.warnings.first?.message.contains("nothing for 10 seconds") == true)
    }

    @Test(arguments: ["mkv", "mp4"])
    func reorderedFramesKeepTheirTimes(ending: String) async throws {
        h264.set(.reorders)
        let outcome = try await record(h264, ending, frames: 90)
        #expect(outcome.times.map(\.count) == [90] && outcome.warnings.isEmpty, "\(outcome)")
        for (earlier, later) in zip(outcome.times[0], outcome.times[0].dropFirst()) {
            #expect(abs(later - earlier - 1.0 / 30) < 0.002)
        }
    }

    /// The limit of the group of pictures takes the place of requests.
    @Test func filesBeginAtKeyframesEvenIfRequestsAreIgnored() async throws {
        h264.set(.ignoresRequests)
        let outcome = try await record(h264, "mkv", frames: 150, length: .seconds(1))
        #expect(outcome.times.map(\.count).reduce(0, +) == 150)
        #expect(outcome.times.count >= 2 && outcome.warnings.isEmpty, "\(outcome.times)")
    }

    @Test(arguments: [nil, VideoCodec.vp9])
    func encoderReplacementKeepsTheCodec(requested: VideoCodec?) async throws {
        vp9.set(.fails, after: 10)
        let outcome = try await record(vp9, "mkv", frames: 60, codec: requested)
        check(outcome, frames: 60, vp9, by: "vp9enc")
        // The parameters of VP9 are in its units.
        #expect(outcome.codecs == ["vp9"])
    }
}
