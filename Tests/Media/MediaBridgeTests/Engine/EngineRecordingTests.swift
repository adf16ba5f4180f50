import Foundation
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Recorders in an engine.
@Suite(.hangGuard) struct EngineRecordingTests {
    private static func camera(_ pattern: String, width: Int) -> String {
        "videotestsrc is-live=true pattern=\(pattern) ! "
            + "video/x-raw,format=I420,width=\(width),height=48,framerate=50/1 ! appsink name=video "
            + "audiotestsrc is-live=true samplesperbuffer=480 ! audio/x-raw,rate=48000 ! appsink name=audio"
    }

    /// Counts rendered frames, and signals when enough have arrived.
    private final class Screen: VideoSink, Sendable {
        private let count = Mutex(0)
        private let enough: AsyncStream<Int>
        private let notify: AsyncStream<Int>.Continuation

        init() { (enough, notify) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

        func render(_ frame: VideoFrame) throws {
            notify.yield(
                count.withLock {
                    $0 += 1
                    return $0
                })
        }

        /// Suspends until `more` further frames have been rendered.
        func wait(forFrames more: Int) async {
            let goal = count.withLock { $0 } + more
            for await count in enough where count >= goal { return }
        }

        /// Suspends, frame by frame, until the condition holds or the task is cancelled.
        func wait(until isMet: () -> Bool) async {
            while !isMet(), !Task.isCancelled { await wait(forFrames: 1) }
        }
    }

    @Test func recorderCanBeAddedAndRemovedDuringThePreview() async throws {
        try await withTemporaryDirectory { directory in
            let engine = MediaEngine()
            let source = try PipelineVideoSource(Self.camera("ball", width: 64))
            let sound = source.audio
            try await engine.setVideoSource(source)
            try await engine.setAudioSource(sound)
            let screen = Screen()
            try await engine.addVideoSink(screen, to: .local())
            try await engine.startPreview()
            await screen.wait(forFrames: 10)

            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            let path = directory.file("out.mkv")
            let recorder = try Recorder(path, configuration: configuration)
            try await engine.addRecorder(recorder)
            try recorder.start()
            await screen.wait {
                let report = recorder.report
                return report.video?.written ?? 0 >= 10 && report.audio?.written ?? 0 >= 10
                    && report.bytes > 0 && report.duration > .zero
            }
            #expect((recorder.freeBytes ?? 0) > 0)
            let report = try await recorder.stop()
            expectBalanced(report)
            try await engine.removeRecorder(recorder)
            await screen.wait(forFrames: 5)
            try await engine.stopPreview()

            let track = try #require(report.video)
            #expect(track.offered + track.repeated == track.written + track.dropped.total)
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == track.written)
            #expect((probe.audio?.frames ?? 0) >= 10)
            #expect(try await MediaProbe.videoTimes(of: path).first ?? 1 < 0.05)
        }
    }

    @Test func sourceOfAnotherSizeStartsANewFile() async throws {
        try await withTemporaryDirectory { directory in
            let engine = MediaEngine()
            let first = try PipelineVideoSource(Self.camera("ball", width: 64))
            try await engine.setVideoSource(first)
            let screen = Screen()
            try await engine.addVideoSink(screen, to: .local())
            let recorder = try Recorder(directory.file("out.mp4"))
            try await engine.addRecorder(recorder)
            try recorder.start()
            try await engine.startPreview()
            await screen.wait(forFrames: 10)
            try await engine.setVideoSource(
                PipelineVideoSource(Self.camera("snow", width: 96)))
            await screen.wait(forFrames: 10)
            try await engine.removeRecorder(recorder)
            let report = try await recorder.stop()
            expectBalanced(report)
            try await engine.stopPreview()
            #expect(report.files.count == 2)
            #expect(report.video?.offered == (report.video.map { $0.written + $0.dropped.total }))
            for (file, width) in zip(report.files, [64, 96]) {
                let video = try await MediaProbe(of: file.path).video
                #expect(video?.width == width && video?.frames == file.frames)
            }
        }
    }

    @Test func recorderIsAddedAndRemovedOnce() async throws {
        try await withTemporaryDirectory { directory in
            let engine = MediaEngine()
            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            let other = try Recorder(directory.file("other.mkv"))
            try await engine.addRecorder(other)
            func remove() async -> EngineError? {
                await #expect(throws: EngineError.self) {
                    try await engine.removeRecorder(recorder)
                }
            }
            #expect(await remove()?.code == .invalidArgument)
            try await engine.addRecorder(recorder)
            let error = await #expect(throws: EngineError.self) {
                try await engine.addRecorder(recorder, to: .remote("anna"))
            }
            #expect(error?.code == .invalidArgument)
            try await engine.removeRecorder(recorder)
            #expect(await remove()?.code == .invalidArgument)
            // Both of its sinks were removed.
            try await engine.addRecorder(recorder, to: .remote("anna"))
            await engine.shutDown()
        }
    }

    @Test func recorderWithAFailedDiskDoesNotAffectThePreview() async throws {
        let engine = MediaEngine()
        try await engine.setVideoSource(PipelineVideoSource(Self.camera("ball", width: 64)))
        let screen = Screen()
        try await engine.addVideoSink(screen, to: .local())
        try await withTemporaryDirectory { directory in
            let path = directory.file("full.mkv")
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: "/dev/full")
            let recorder = try Recorder(path)
            let events = recorder.events
            try await engine.addRecorder(recorder)
            try recorder.start()
            try await engine.startPreview()
            for await event in events { if case .failed = event { break } }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .noSpaceLeft)
            await screen.wait(forFrames: 10)
            let track = try #require(recorder.report.video)
            #expect(track.offered + track.repeated == track.written + track.dropped.total)
        }
        try await engine.stopPreview()
    }
}
