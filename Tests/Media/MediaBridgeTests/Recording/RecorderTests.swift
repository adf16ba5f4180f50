import Foundation
import MediaBridge
import TestSupport
import Testing

/// Recordings checked with ffprobe.
@Suite(.hangGuard) struct RecorderTests {
    @Test(arguments: RecordingContainer.allCases.filter { !$0.videoCodecs.isEmpty })
    func fileHasEveryFrameWithItsTime(container: RecordingContainer) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container.rawValue)")
            let recorder = try Recorder(path)
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<30 { try await recorder.write(frames.picture(index)) }
            let report = try await recorder.stop()
            expectBalanced(report)

            #expect(report.video?.offered == 30 && report.video?.written == 30)
            #expect(report.video?.dropped.total == 0 && report.failure == nil)
            #expect(report.files.map(\.path) == [path] && report.files.first?.frames == 30)
            #expect(report.ended == .stop)
            #expect(try await MediaProbe(of: path).video?.frames == 30)
            let times = try await MediaProbe.videoTimes(of: path)
            for (index, time) in times.enumerated() {
                #expect(abs(time - times[0] - Double(index) / 25) < 0.002)
            }
            let seen = try await MediaProbe.luma(of: path).map { $0[0] }
            for (index, luma) in seen.enumerated() {
                #expect(RecordedFrames.isShade(luma, of: index), "picture \(index)")
            }
        }
    }

    @Test(arguments: [
        ("mkv", VideoCodec.h264, AudioCodec.opus), ("mkv", .vp8, .aac), ("mkv", .vp9, .flac),
        ("mkv", .mjpeg, .opus), ("mkv", .ffv1, .flac), ("mp4", .h264, .aac), ("mp4", .vp9, .aac),
        ("webm", .vp8, .opus), ("webm", .vp9, .opus), ("ts", .h264, .aac),
        ("mkv", .av1, .opus), ("webm", .av1, .opus), ("mp4", .av1, .aac),
        ("mkv", .h265, .opus), ("mp4", .h265, .aac), ("ts", .h265, .aac), ("mov", .h264, .aac),
        ("mov", .h265, .pcm),
        ("mov", .mjpeg, .pcm), ("mov", .prores, .aac), ("mkv", .h264, .pcm),
    ])
    func everyCodecOfEveryContainerRecordsVideoAndAudio(
        ending: String, video: VideoCodec, audio: AudioCodec
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            var configuration = Recorder.Configuration()
            configuration.video = VideoEncoding(video)
            configuration.audio = AudioEncoding(audio)
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<25 {
                try await recorder.write(frames.picture(index))
                #expect(
                    try recorder.consume(frames.sound(from: index * 1920, samples: 1920)).isAccepted
                )
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.codec == video.rawValue && report.audio?.codec == audio.rawValue)

            let probe = try await MediaProbe(of: path)
            // ffprobe's name.
            let name = video == .h265 ? "hevc" : video.rawValue
            #expect(probe.video?.codec == name && probe.video?.frames == 25)
            #expect(
                probe.audio?.codec.hasPrefix(audio.rawValue) == true
                    && probe.audio?.sampleRate == 48_000)
            let samples = try await MediaProbe.audioSamples(of: path)
            // AAC pads its last block; nothing is missing.
            #expect((48_000...48_000 + 2048).contains(samples))
        }
    }

    @Test func losslessVideoAndAudioAreUnchanged() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var configuration = Recorder.Configuration()
            configuration.video = VideoEncoding(.ffv1)
            configuration.audio = AudioEncoding(.flac)
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<10 {
                try await recorder.write(frames.picture(index))
                let sound = try frames.sound(from: index * 1920, samples: 1920)
                #expect(recorder.consume(sound).isAccepted)
            }
            try await recorder.stop()
            for (index, luma) in try await MediaProbe.luma(of: path).enumerated() {
                #expect(RecordedFrames.isShade(luma[0], of: index))
            }
            let raw = directory.file("samples.raw")
            try await Tool.check(
                "ffmpeg", ["-v", "error", "-i", path, "-map", "0:a", "-f", "s16le", raw])
            let bytes = try Data(contentsOf: URL(fileURLWithPath: raw))
            #expect(bytes == RecordedFrames.samples(0..<19_200).withUnsafeBytes { Data($0) })
        }
    }

    @Test func newSizeStartsANewFileAndLosesNoFrame() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mp4"))
            let events = recorder.events
            try recorder.start()
            var frames = RecordedFrames()
            for index in 0..<30 { try await recorder.write(frames.picture(index)) }
            frames.width = 96
            for index in 30..<50 { try await recorder.write(frames.picture(index)) }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.written == 50 && report.video?.dropped.total == 0)
            #expect(report.files.map(\.frames) == [30, 20])
            #expect(directory.contents == ["out-00001.mp4", "out.mp4"])
            let first = try await MediaProbe(of: directory.file("out.mp4")).video
            #expect(first?.frames == 30 && first?.width == 64)
            let second = try await MediaProbe(of: directory.file("out-00001.mp4")).video
            #expect(second?.frames == 20 && second?.width == 96)
            var reasons: [RecorderEvent.Reason] = []
            for await case .fileStarted(_, let reason) in events { reasons.append(reason) }
            #expect(reasons == [.started, .formatChanged])
        }
    }

    @Test func oddSizesLoseTheirLastRowAndColumn() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            let recorder = try Recorder(path)
            try recorder.start()
            let frames = RecordedFrames(width: 65, height: 49)
            for index in 0..<10 { try await recorder.write(frames.picture(index)) }
            try await recorder.stop()
            let video = try await MediaProbe(of: path).video
            #expect(video?.width == 64 && video?.height == 48 && video?.frames == 10)
        }
    }

    @Test(arguments: [
        (VideoRotation.rotation90, [255, 0, 255, 0]), (.rotation180, [255, 255, 0, 0]),
        (.rotation270, [0, 255, 0, 255]),
    ])
    func rotatedFramesAreRecordedUpright(rotation: VideoRotation, fields: [UInt8]) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(path)
            try recorder.start()
            for index in 0..<5 {
                // The upper half is black, and the lower half white.
                var frame = try RecordedFrames().picture(index)
                try frame.withMutablePlanes { planes in
                    let luma = planes[0]
                    for y in 0..<48 {
                        var row = luma.row(y)
                        for x in 0..<64 {
                            row[x] = y < 24 ? 16 : 235
                        }
                    }
                }
                frame.rotation = rotation
                try await recorder.write(frame)
            }
            try await recorder.stop()
            let isTurned = rotation != .rotation180
            let video = try await MediaProbe(of: path).video
            #expect(video?.width == (isTurned ? 48 : 64) && video?.height == (isTurned ? 64 : 48))
            let luma = try await MediaProbe.luma(of: path, columns: 2, rows: 2)[0]
            // Upper left, upper right, lower left, lower right.
            for (seen, expected) in zip(luma, fields) {
                #expect(abs(Int(seen) - Int(expected)) < 24)
            }
        }
    }

    @Test func recordingStartsOnceAndMayBeStoppedRepeatedly() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            #expect(try recorder.consume(RecordedFrames().picture(0)) == .dropped(.notStarted))
            try recorder.start()
            let error = #expect(throws: PipelineError.self) { try recorder.start() }
            #expect(error?.code == .invalidState)
            try await recorder.write(RecordedFrames().picture(0))
            let first = try await recorder.stop()
            expectBalanced(first)
            #expect(try await recorder.stop().description == first.description)
            #expect(try recorder.consume(RecordedFrames().picture(1)) == .dropped(.closed))
            #expect(first.video?.offered == 1 && first.video?.written == 1)
        }
    }

    @Test func aStopWithoutAFrameLeavesNoFileAndIsAnError() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(directory.file("out.mkv"))
            try recorder.start()
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.message.contains("no frame arrived") == true)
            expectBalanced(recorder.report)
            #expect(recorder.report.files.isEmpty && directory.contents.isEmpty)
        }
    }

    @Test func impossibleRecordingIsRefusedImmediately() async throws {
        func code(
            _ path: String, _ change: (inout Recorder.Configuration) -> Void = { _ in }
        ) -> PipelineError.Code? {
            var configuration = Recorder.Configuration()
            change(&configuration)
            do throws(PipelineError) {
                _ = try Recorder(path, configuration: configuration)
                return nil
            } catch { return error.code }
        }
        #expect(code("/tmp/out.avi") == .badValue)
        #expect(code("/tmp/mkv") == .badValue)
        #expect(code("/nowhere/out.mkv") == .notFound)
        #expect(code("/tmp/out.webm") { $0.video = VideoEncoding(.h264) } == .badValue)
        #expect(code("/tmp/out.mp4") { $0.audio = AudioEncoding(.flac) } == .badValue)
        #expect(code("/tmp/out.mkv") { $0.video = nil } == .badValue)
    }

    @Test func recordingEndsWithItsSources() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            let recorder = try Recorder(path, configuration: configuration)
            let events = recorder.events
            try recorder.start()
            let (video, audio) = (recorder.videoInput, recorder.audioInput)
            let frames = RecordedFrames()
            for index in 0..<20 { video.consume(try frames.picture(index)) }
            video.sourceDidEnd()
            for index in 0..<20 {
                audio.consume(try frames.sound(from: index * 1920, samples: 1920))
            }
            audio.sourceDidEnd()
            var report: RecorderReport?
            for await case .finished(let final) in events { report = final }
            #expect(report?.ended == .eos && report?.video?.written == 20)
            #expect(try await MediaProbe(of: path).video?.frames == 20)
        }
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func frameWithTheTimestampOfItsPredecessorIsRecorded(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try Recorder(path)
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<12 {
                let time = MediaTime(value: index == 5 ? 4 : Int64(index), timescale: 25)
                try await recorder.write(frames.picture(index, at: time))
            }
            let report = try await recorder.stop()
            #expect(report.video?.written == 12 && report.video?.dropped == DropCounts())
            let luma = try await MediaProbe.luma(of: path)
            #expect(luma.count == 12)
            for (index, shade) in luma.enumerated() {
                #expect(RecordedFrames.isShade(shade[0], of: index))
            }
        }
    }
}
