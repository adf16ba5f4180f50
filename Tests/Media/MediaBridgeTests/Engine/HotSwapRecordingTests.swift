import Foundation
import MediaBridge
import MediaBridgeAgora
import TestSupport
import Testing

/// Several sources in turn, in one recording.
@Suite(.hangGuard)
struct HotSwapRecordingTests {
    /// A second of frames fits into every queue, so that only the swap can lose any.
    private func live(_ pattern: String) throws -> PipelineVideoSource {
        var configuration = PipelineVideoSource.Configuration()
        configuration.depth = 30
        return try PipelineVideoSource(
            "videotestsrc is-live=true pattern=\(pattern) "
                + "! video/x-raw,format=I420,width=64,height=48,framerate=30/1",
            configuration: configuration)
    }

    private func record(_ engine: MediaEngine, to path: String) async throws {
        var configuration = PipelineVideoSink.Configuration()
        configuration.queue = QueueLimit(buffers: 30)
        configuration.whenFull = .wait
        var options = SinkOptions()
        options.depth = 30
        try await engine.setLocalVideoRenderer(
            PipelineVideoSink(
                "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=30 ! matroskamux "
                    + "! filesink location=\(path)", configuration: configuration),
            options: options)
    }

    @Test func recordingOfTwoLiveSourcesIsInOrderWithoutBlackFrames() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("swap.mkv")
            let engine = MediaEngine()
            try await engine.setVideoSource(live("smpte"))
            try await record(engine, to: path)
            try await engine.startPreview()
            for pattern in ["white", "smpte", "white"] {
                try await frames(5, of: engine)
                try await engine.setVideoSource(live(pattern))
            }
            try await frames(5, of: engine)
            await engine.shutDown()
            await expectBalanced(engine)

            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count >= 20 && times == times.sorted())
            let luma = try await MediaProbe.meanLuma(of: path)
            #expect(luma.count == times.count)
            #expect(try #require(luma.min()) > 60, "a black frame")
            // All four sources appear, in order.
            let whites = luma.map { $0 > 200 }
            let changes = zip(whites.dropFirst(), whites).filter { $0 != $1 }.count
            #expect(changes == 3)
        }
    }

    /// A decoded camera states its colour, and videotestsrc does not.
    @Test(arguments: [
        ("colorimetry=bt601", "", 1), ("", "colorimetry=bt709,chroma-site=mpeg2", 1),
        ("chroma-site=mpeg2", "colorimetry=bt601", 1),
        ("colorimetry=bt709", "colorimetry=bt601", 2),
    ])
    func differentColorimetryStartsNoNewFile(
        first: String, second: String, files: Int
    ) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            try recorder.start()
            for (run, colour) in [first, second].enumerated() {
                let caps = ["video/x-raw,format=I420,width=64,height=48,framerate=25/1", colour]
                    .filter { !$0.isEmpty }.joined(separator: ",")
                let source = try PipelineVideoSource(
                    "videotestsrc num-buffers=10 ! capssetter caps=\"\(caps)\"")
                for try await frame in source.frames() {
                    var frame = frame
                    frame.runningTime = frame.runningTime.map {
                        $0 + MediaTime(value: Int64(10 * run), timescale: 25)
                    }
                    try await recorder.write(frame)
                }
            }
            let report = try await recorder.stop()
            #expect(report.files.count == files)
            #expect(report.files.map(\.frames).reduce(0, +) == 20)
        }
    }

    @Test func fileReplacesALiveSourceInContinuousTime() async throws {
        try await withTemporaryDirectory { directory in
            var clip = Clip()
            (clip.frames, clip.width, clip.height, clip.hasAudio) = (15, 64, 48, false)
            let film = try await clip.make(at: directory.file("clip.mkv"))
            let path = directory.file("swap.mkv")
            let engine = MediaEngine()
            try await engine.setVideoSource(live("white"))
            try await record(engine, to: path)
            let events = engine.events
            try await engine.startPreview()
            try await frames(10, of: engine)
            try await engine.setVideoSource(
                PipelineVideoSource(
                    "filesrc location=\(film) ! matroskademux ! decodebin ! videoconvert"))
            for await event in events { if case .sourceEnded = event { break } }
            await engine.shutDown()
            await expectBalanced(engine)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times == times.sorted() && times.first == 0)
            // White frames, followed by all frames of the film, in which a ball moves on black.
            let whites = try await MediaProbe.meanLuma(of: path).map { $0 > 200 }
            #expect(whites.count == times.count && whites.count { !$0 } == 15)
            #expect(whites.dropLast(15).allSatisfy { $0 } && whites.count >= 25)
        }
    }

    /// Suspends until `count` more frames have passed.
    private func frames(_ count: Int, of engine: MediaEngine) async throws {
        for _ in 0..<count { _ = try await engine.takeSnapshot() }
    }
}
