import Foundation
import Glibc
import MediaBridge
import TestSupport
import Testing

/// A recording succeeds only if its file was read back, and its end is reported.
@Suite(.hangGuard) struct RecordingEndTests {
    @Test func stopWithoutAFrameFails() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            try recorder.start()
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .noFrames)
            #expect(error?.message.contains("nothing was recorded") == true)
            #expect(recorder.report.ended == .error && directory.contents.isEmpty)
        }
    }

    @Test func stopErrorCountsTheRefusedFrames() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            try recorder.start()
            recorder.pause()
            for index in 0..<5 { recorder.consume(try RecordedFrames().picture(index)) }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .noFrames && error?.message.contains("5 paused") == true)
        }
    }

    @Test func recorderThatWasNeverStartedReportsNoFailure() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(path)
            let events = recorder.events
            let report = try await recorder.stop()
            #expect(report.files.isEmpty && report.failure == nil && report.ended == .stop)
            #expect(report.video?.offered == 0 && report.video?.written == 0)
            #expect(report.bytes == 0 && report.duration == .zero)
            #expect(!FileManager.default.fileExists(atPath: path))
            var names: [String] = []
            for await event in events { names.append(String("\(event)".prefix { $0 != "(" })) }
            #expect(names == ["finished"])
            let error = #expect(throws: PipelineError.self) { try recorder.start() }
            #expect(error?.code == .invalidState)
        }
    }

    @Test func recorderThatWasNeverStartedRefusesAndCountsFrames() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            let frames = RecordedFrames()
            for index in 0..<10 {
                let error = await #expect(throws: PipelineError.self) {
                    try await recorder.write(frames.picture(index))
                }
                #expect(error?.code == .invalidState && error?.advice?.contains("start()") == true)
                await #expect(throws: PipelineError.self) {
                    try await recorder.write(frames.sound(from: index * 1920, samples: 1920))
                }
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.offered == 10 && report.video?.dropped[.notStarted] == 10)
            #expect(report.audio?.offered == 10 && report.audio?.dropped[.notStarted] == 10)
        }
    }

    @Test func pauseWhileNothingIsRecordedDoesNotHoldUpTheNextRecording() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            let frames = RecordedFrames()
            recorder.pause()
            try recorder.start()
            for index in 0..<10 { try await recorder.write(frames.picture(index)) }
            recorder.pause()
            for index in 10..<20 { try await recorder.write(frames.picture(index)) }
            _ = try await recorder.rearm()
            recorder.pause()
            try recorder.start()
            for index in 20..<30 { try await recorder.write(frames.picture(index)) }
            let report = try await recorder.stop()
            #expect(report.files.map(\.frames) == [10, 10])
            #expect(report.video?.dropped[.paused] == 10)
        }
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"], [true, false])
    func removedOrReplacedFileIsAFailure(ending: String, isGone: Bool) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try Recorder(path)
            let events = recorder.events
            try recorder.start()
            for index in 0..<25 { try await recorder.write(RecordedFrames().picture(index)) }
            for await event in events { if case .fileStarted = event { break } }
            // Another process removes the file, or another file takes its name.
            try #require(unlink(path) == 0)
            if !isGone { try Data(count: 4_096).write(to: URL(fileURLWithPath: path)) }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .resourceFailed)
            #expect(error?.message.contains("was written, but ") == true, "\(error as Any)")
            #expect(recorder.report.files.first?.failure == error)
        }
    }

    @Test func lastEventFollowsAFailureWithoutAStop() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("full.mkv")
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: "/dev/full")
            let recorder = try Recorder(path)
            let events = recorder.events
            try recorder.start()
            for index in 0..<25 { recorder.consume(try RecordedFrames().picture(index)) }
            var last: RecorderEvent?
            for await event in events { last = event }
            guard case .finished(let report) = last else {
                Issue.record("the last event is \(last as Any)")
                return
            }
            #expect(report.failure?.code == .noSpaceLeft && report.ended == .error)
            await #expect(throws: PipelineError.self) { try await recorder.stop() }
        }
    }

    @Test func lastEventFollowsANearlyFullDiskWithoutAStop() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            configuration.reserve = .max / 2
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            let events = recorder.events
            try recorder.start()
            for index in 0..<25 { recorder.consume(try RecordedFrames().picture(index)) }
            var last: RecorderEvent?
            for await event in events { last = event }
            guard case .finished(let report) = last else {
                Issue.record("the last event is \(last as Any)")
                return
            }
            #expect(report.failure?.code == .noSpaceLeft && report.files.isEmpty)
            #expect(report.failure?.message.contains("nothing was recorded") == true)
            #expect(report.failure?.message.contains("B left)") == true)
            #expect(report.video?.offered == report.video?.dropped.total)
            #expect(directory.contents.isEmpty)
        }
    }

    @Test(arguments: [0, 10, -1, 3_000_000_000])
    func impossibleBitRateIsRefusedImmediately(bitrate: Int) throws {
        var configuration = Recorder.Configuration()
        configuration.video = VideoEncoding(bitRate: bitrate)
        let error = #expect(throws: PipelineError.self) {
            try Recorder("/tmp/none.mkv", configuration: configuration)
        }
        #expect(error?.code == .badValue)
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func frameRateOfClockTicksIsRecorded(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            var plan = BridgePlan(
                capture: "videotestsrc num-buffers=50 ! video/x-raw,width=64,height=48,"
                    + "framerate=25/1 ! capssetter caps=video/x-raw,framerate=90000/1")
            plan.recordings = [BridgePlan.Recording(path: path)]
            try await Bridge(plan).run().get()
            #expect(try await MediaProbe(of: path).video?.frames == 50)
        }
    }

    @Test(arguments: [RecordingContainer.mkv, .mp4, .webm])
    func configuredCodecWithoutAStreamIsAnError(
        container: RecordingContainer
    ) throws {
        let name = "/tmp/none.\(container.rawValue)"
        var plan = BridgePlan(capture: "videotestsrc num-buffers=5")
        var configuration = Recorder.Configuration()
        configuration.audio = AudioEncoding(container.audioCodecs[0])
        plan.recordings = [BridgePlan.Recording(path: name, configuration: configuration)]
        #expect(throws: PipelineError.self) { try Bridge(plan) }
        // Any available codec, if there is audio: this does not require audio.
        configuration.audio = AudioEncoding()
        plan.recordings[0].configuration = configuration
        _ = try Bridge(plan)
        // The reverse: a required video codec, and no video.
        configuration.video = VideoEncoding(container.videoCodecs[0])
        plan = BridgePlan(capture: "audiotestsrc num-buffers=5 ! appsink name=audio")
        plan.recordings = [BridgePlan.Recording(path: name, configuration: configuration)]
        #expect(throws: PipelineError.self) { try Bridge(plan) }
    }

    @Test(arguments: ["matroskamux", "h264parse ! mp4mux", "mpegtsmux", "identity"])
    func outputWhoseFileWasRemovedFails(muxer: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.film")
            let sink = try PipelineVideoSink(
                "x264enc tune=zerolatency ! \(muxer) ! filesink location=\(path)")
            for index in 0..<25 { try await sink.write(RecordedFrames().picture(index)) }
            try #require(unlink(path) == 0)
            let error = await #expect(throws: PipelineError.self) { try await sink.finish() }
            #expect(error?.code == .resourceFailed)
            #expect(error?.message.contains("does not exist") == true)
        }
    }
}
