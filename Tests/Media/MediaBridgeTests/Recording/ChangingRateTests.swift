import Foundation
import MediaBridge
import TestSupport
import Testing

/// A stream that changes its frame rate, colour or shape in the middle of a file.
@Suite(.hangGuard) struct ChangingRateTests {
    /// 30 frames at 30 fps, then 25 at 25 fps, of the same size. The arguments are additional caps
    /// of each.
    private func capture(_ first: String = "", _ second: String = "") -> String {
        func source(_ rate: Int, _ other: String) -> String {
            let caps = other.isEmpty ? "" : "! capssetter caps=\"video/x-raw,\(other)\""
            return "videotestsrc num-buffers=\(rate) ! video/x-raw,format=I420,width=320,"
                + "height=240,framerate=\(rate)/1 \(caps) ! c."
        }
        return "concat name=c ! appsink name=video \(source(30, first)) \(source(25, second))"
    }

    /// The times at which the frames are due.
    private static let times =
        (0..<30).map { Double($0) / 30 } + (0..<25).map { 1 + Double($0) / 25 }

    private func expectAll(in path: String, tolerance: Double = 0.0011) async throws {
        #expect(try await MediaProbe(of: path).video?.frames == 55)
        let found = try await MediaProbe.videoTimes(of: path)
        #expect(found.count == 55)
        // A transport stream begins at one hour.
        for (time, expected) in zip(found, Self.times) {
            #expect(abs(time - found[0] - expected) < tolerance, "\(time) is not \(expected)")
        }
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func frameRateChangeContinuesTheSameFile(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            var plan = BridgePlan(capture: capture())
            plan.recordings = [BridgePlan.Recording(path: path)]
            let report = try await Bridge(plan).run().get()
            #expect(report.outputs["recording"]?.frames == 55)
            #expect(directory.contents == ["out.\(ending)"])
            try await expectAll(in: path)
        }
    }

    @Test(arguments: [
        "x264enc speed-preset=ultrafast ! matroskamux",
        "x264enc speed-preset=ultrafast ! h264parse ! mp4mux",
        "x264enc speed-preset=ultrafast ! mpegtsmux", "vp8enc deadline=1 ! webmmux",
        "vp9enc deadline=1 cpu-used=8 ! webmmux", "jpegenc ! matroskamux",
        "avenc_ffv1 ! matroskamux",
    ])
    func encodingOutputAcceptsAnotherFrameRate(text: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.film")
            let plan = BridgePlan(
                capture: capture(), outputs: ["\(text) ! filesink location=\(path)"])
            let report = try await Bridge(plan).run().get()
            #expect(report.outputs["output"]?.frames == 55)
            try await expectAll(in: path)
        }
    }

    static let changes = [
        ("colorimetry=bt601", "colorimetry=bt709"),
        // Without a colorimetry, GStreamer ignores the chroma site.
        ("colorimetry=bt601,chroma-site=mpeg2", "colorimetry=bt601,chroma-site=jpeg"),
        ("pixel-aspect-ratio=1/1", "pixel-aspect-ratio=4/3"),
        ("interlace-mode=progressive", "interlace-mode=interleaved"),
    ]

    /// The containers share the decision, so only one of them needs every change.
    @Test(arguments: changes.map { ("mkv", $0) } + ["mp4", "webm", "ts"].map { ($0, changes[0]) })
    func formatChangeThatContradictsTheHeaderStartsANewFile(
        ending: String, change: (String, String)
    ) async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(capture: capture(change.0, change.1))
            plan.recordings = [BridgePlan.Recording(path: directory.file("out.\(ending)"))]
            let report = try await Bridge(plan).run().get()
            #expect(report.outputs["recording"]?.frames == 55)
            #expect(directory.contents == ["out-00001.\(ending)", "out.\(ending)"])
            #expect(try await MediaProbe(of: directory.file("out.\(ending)")).video?.frames == 30)
            #expect(
                try await MediaProbe(of: directory.file("out-00001.\(ending)")).video?.frames == 25)
        }
    }

    @Test(arguments: changes)
    func encodingOutputKeepsTheFormatOfItsFirstFrame(change: (String, String)) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let plan = BridgePlan(
                capture: capture(change.0, change.1),
                outputs: [
                    "x264enc speed-preset=ultrafast ! matroskamux ! filesink location=\(path)"
                ])
            let report = try await Bridge(plan).run().get()
            #expect(report.outputs["output"]?.frames == 55)
            try await expectAll(in: path)
        }
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func frameRateThatAppearsLaterContinuesTheSameFile(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try Recorder(path)
            try recorder.start()
            let frames = RecordedFrames()
            let format = VideoFormat(.i420, width: 64, height: 48)
            for index in 0..<20 {
                try await recorder.write(
                    VideoFrame(
                        format, runningTime: MediaTime(value: Int64(index), timescale: 25),
                        duration: nil))
            }
            for index in 20..<40 { try await recorder.write(frames.picture(index)) }
            let report = try await recorder.stop()
            #expect(report.files.map(\.frames) == [40])
            #expect(try await MediaProbe(of: path).video?.frames == 40)
            let times = try await MediaProbe.videoTimes(of: path)
            for (index, time) in times.enumerated() {
                #expect(abs(time - times[0] - Double(index) / 25) < 0.002)
            }
        }
    }

    @Test func frameCountingOutputRefusesAnotherRateWithAdvice() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.ogv")
            let plan = BridgePlan(
                capture: capture(),
                outputs: ["theoraenc ! oggmux ! filesink location=\(path)"])
            let error = try #require(await Bridge(plan).run().failures.first)
            #expect(error.code == .streamFailed && error.message.contains("30/1, then 25/1"))
            #expect(error.advice?.contains("videorate") == true)
        }
    }

    @Test func unitsWithOtherCodecDataAreNotMuxedIntoTheSameFile() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            clip.hasAudio = false
            let one = try await clip.make(at: directory.file("one.mkv"))
            clip.width = 160
            let two = try await clip.make(at: directory.file("two.mkv"))
            let plan = BridgePlan(
                capture: """
                    concat name=c ! appsink name=video
                    filesrc location=\(one) ! matroskademux ! h264parse ! c.
                    filesrc location=\(two) ! matroskademux ! h264parse ! c.
                    """,
                outputs: ["matroskamux ! filesink location=\(directory.file("out.mkv"))"])
            let error = try #require(await Bridge(plan).run().failures.first)
            #expect(error.code == .streamFailed && error.message.contains("the stream changed"))
        }
    }

    @Test func liveSourcesWithDifferentRatesShareOneRecording() async throws {
        try await withTemporaryDirectory { directory in
            func camera(_ rate: Int) throws -> PipelineVideoSource {
                try PipelineVideoSource(
                    "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,"
                        + "framerate=\(rate)/1")
            }
            let path = directory.file("out.mkv")
            let engine = MediaEngine()
            try await engine.setVideoSource(camera(30))
            let recorder = try Recorder(path)
            try await engine.addRecorder(recorder)
            try recorder.start()
            try await engine.startPreview()
            for rate in [25, 15, 30] {
                for _ in 0..<4 { _ = try await engine.takeSnapshot() }
                try await engine.setVideoSource(camera(rate))
            }
            for _ in 0..<4 { _ = try await engine.takeSnapshot() }
            try await engine.removeRecorder(recorder)
            let report = try await recorder.stop()
            await engine.shutDown()
            #expect(directory.contents == ["out.mkv"])
            let track = try #require(report.video)
            #expect(track.offered + track.repeated == track.written + track.dropped.total)
            #expect(try await MediaProbe(of: path).video?.frames == track.written)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times == times.sorted() && times.count >= 10)
        }
    }
}
