import Foundation
import MediaBridge
import TestSupport
import Testing

/// Pauses, pre-rolls, segments, rings, gaps.
@Suite(.hangGuard) struct RecordingCourseTests {
    /// Frames that look live but wait for room, so that a fast test loses none.
    private var live: RecordedFrames {
        RecordedFrames(
            liveTiming: LiveTiming(
                clockOrigin: MediaTime(seconds: 100), latency: MediaTime(seconds: 0.04)))
    }

    private func configuration(
        audio: AudioCodec? = .flac, _ change: (inout Recorder.Configuration) -> Void = { _ in }
    ) -> Recorder.Configuration {
        var configuration = Recorder.Configuration()
        configuration.audio = audio.map { AudioEncoding($0) }
        configuration.whenFull = .wait
        change(&configuration)
        return configuration
    }

    /// Records video and audio alternately, as a camera and a microphone deliver them.
    private func record(
        _ range: Range<Int>, of frames: RecordedFrames, into recorder: Recorder
    ) async throws {
        for index in range {
            try await recorder.write(frames.picture(index))
            _ = try recorder.consume(frames.sound(from: index * 1920, samples: 1920))
        }
    }

    private func samples(of path: String) async throws -> [Int16] {
        let raw = path + ".raw"
        try await Tool.check(
            "ffmpeg", ["-v", "error", "-y", "-i", path, "-map", "0:a", "-f", "s16le", raw])
        return try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes {
            Array($0.bindMemory(to: Int16.self))
        }
    }

    private func expected(_ range: Range<Int>) -> [Int16] { RecordedFrames.samples(range) }

    @Test func pausedTimeIsCutFromTheFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(timeless: path, configuration())
            try recorder.start()
            try await record(0..<50, of: live, into: recorder)
            recorder.pause()
            try await record(50..<100, of: live, into: recorder)
            recorder.resume()
            try await record(100..<150, of: live, into: recorder)
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.offered == 150 && report.video?.written == 100)
            #expect(report.video?.dropped[.paused] == 50 && report.video?.dropped.total == 50)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count == 100)
            for (index, time) in times.enumerated() {
                #expect(abs(time - Double(index) / 25) < 0.002)
            }
            let heard = try await samples(of: path)
            #expect(heard == expected(0..<96_000) + expected(192_000..<288_000))
        }
    }

    @Test func preRollBeginsWithAKeyframeBeforeTheStart() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(
                timeless: path, configuration { $0.preRoll = .seconds(5) })
            try await record(0..<250, of: live, into: recorder)
            try recorder.start()
            try await record(250..<300, of: live, into: recorder)
            let report = try await recorder.stop()
            expectBalanced(report)
            let times = try await MediaProbe.videoTimes(of: path)
            // Of ten seconds, five are kept, beginning with the keyframe before them, however far
            // the encoder was at the call.
            let before = times.count - 50
            #expect(before == 150)
            #expect(times.first == 0)
            #expect(report.video?.written == times.count)
            #expect(report.video?.dropped[.early] == 250 - before)
            let luma = try await MediaProbe.luma(of: path)
            #expect(RecordedFrames.isShade(luma[0][0], of: 250 - before))
            let heard = try await samples(of: path)
            let begin = (250 - before) * 1920
            // Audio begins with the block that contains the time of the first frame.
            #expect(abs(heard.count - (300 * 1920 - begin)) <= 1152)
            #expect(Array(heard.suffix(96_000)) == expected(250 * 1920..<300 * 1920))
        }
    }

    /// A buffer of 200 ms is ten Opus units. Counted together, more would be lost than existed.
    @Test func audioBuffersAndTheirUnitsAreCountedSeparately() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                timeless: directory.file("out.mkv"),
                configuration(audio: .opus) {
                    $0.preRoll = .seconds(1)
                })
            for index in 0..<250 {
                try await recorder.write(live.picture(index))
                guard index % 5 == 4 else { continue }
                let first = (index - 4) * 1920
                _ = try recorder.consume(live.sound(from: first, samples: 5 * 1920))
            }
            try recorder.start()
            let report = try await recorder.stop()
            expectBalanced(report)
            let sound = try #require(report.audio)
            #expect(sound.offered == 50 && sound.repeated == 0)
            // Of ten seconds, one is kept, plus the part back to its keyframe. Eight are dropped,
            // counted in units, of which there are more than buffers.
            #expect((399...401).contains(sound.droppedEncodedFrames[.early]))
            #expect(sound.droppedEncodedFrames.total + sound.written >= 500)
            #expect(report.video?.droppedEncodedFrames == DropCounts())
        }
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func segmentsFollowEachOtherWithoutAGap(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                timeless: directory.file("out.\(ending)"),
                configuration(audio: ending == "mkv" ? .flac : nil) {
                    if ending != "mkv" { $0.audio = AudioEncoding() }
                    $0.segments = RecordingSegments(length: .seconds(1))
                })
            try recorder.start()
            try await record(0..<75, of: RecordedFrames(), into: recorder)
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.files.map(\.frames) == [25, 25, 25])
            #expect(directory.contents.first == "out-00000.\(ending)")
            var pictures: [UInt8] = []
            var count = 0
            for file in report.files {
                let luma = try await MediaProbe.luma(of: file.path)
                pictures += luma.map { $0[0] }
                count += try await MediaProbe.audioSamples(of: file.path)
            }
            #expect(pictures.count == 75)
            for (index, luma) in pictures.enumerated() {
                #expect(RecordedFrames.isShade(luma, of: index))
            }
            // The last AAC block is padded.
            #expect((144_000...144_000 + 1024 + 1024).contains(count))
        }
    }

    /// The frame after the gap has no duration, and does not last as long as the gap.
    @Test(arguments: ["mkv", "mp4", "webm", "ts"], [1, 30])
    func gapDoesNotExtendTheDurationOfTheFile(ending: String, framesAfterTheGap: Int) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                timeless: directory.file("out.\(ending)"), configuration(audio: nil))
            try recorder.start()
            for index in 0..<30 + framesAfterTheGap {
                let time = MediaTime(
                    value: Int64(index < 30 ? index : 15_000 + index), timescale: 25)
                try await recorder.write(
                    VideoFrame(VideoFormat(.i420, width: 64, height: 48), runningTime: time))
            }
            let report = try await recorder.stop()
            #expect(report.files.map(\.frames) == [30 + framesAfterTheGap])
            let end = Duration.seconds(600) + .milliseconds(40 * (30 + framesAfterTheGap))
            let duration = try #require(report.files.first?.duration)
            #expect((end - .milliseconds(100)...end + .milliseconds(100)).contains(duration))
        }
    }

    @Test(arguments: ["mkv", "webm"])
    func segmentLengthDoesNotDependOnTheFrameRate(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                timeless: directory.file("out.\(ending)"),
                configuration(audio: nil) {
                    $0.segments = RecordingSegments(length: .seconds(2))
                })
            try recorder.start()
            // Five frames per second, although the format says 25.
            for index in 0..<50 {
                try await recorder.write(
                    RecordedFrames().picture(
                        index, at: MediaTime(value: Int64(index), timescale: 5)))
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.files.map(\.frames) == [10, 10, 10, 10, 10])
        }
    }

    @Test func segmentsContainTheRecordedAudio() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                timeless: directory.file("out.mkv"),
                configuration {
                    $0.segments = RecordingSegments(length: .seconds(1))
                })
            try recorder.start()
            try await record(0..<100, of: RecordedFrames(), into: recorder)
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.files.count == 4)
            var heard: [Int16] = []
            for file in report.files { heard += try await samples(of: file.path) }
            #expect(heard == expected(0..<192_000))
        }
    }

    @Test func aRingKeepsTheNewestFiles() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                timeless: directory.file("out.mkv"),
                configuration {
                    $0.segments = RecordingSegments(
                        length: .seconds(1), keepFiles: 3)
                })
            let events = recorder.events
            try recorder.start()
            try await record(0..<175, of: RecordedFrames(), into: recorder)
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(directory.contents == ["out-00004.mkv", "out-00005.mkv", "out-00006.mkv"])
            #expect(report.files.map(\.frames) == [25, 25, 25])
            #expect(report.video?.written == 175)
            #expect(report.duration >= .seconds(7))
            var removed = 0
            for await event in events { if case .fileRemoved = event { removed += 1 } }
            #expect(removed == 4)
        }
    }

    @Test func segmentsKeepToTheSizeLimit() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                timeless: directory.file("out.mkv"),
                configuration(audio: nil) {
                    $0.video = VideoEncoding(.mjpeg)
                    $0.segments = RecordingSegments(bytes: 40_000)
                })
            try recorder.start()
            let frames = RecordedFrames(width: 320, height: 240)
            for index in 0..<100 { try await recorder.write(frames.picture(index)) }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.files.count > 2)
            #expect(report.files.map(\.frames).reduce(0, +) == 100)
            // The muxer's overhead is not counted in advance.
            for file in report.files { #expect(file.bytes < 48_000) }
        }
    }

    @Test func audioGapsBecomeSilenceAndOverlapsAreCut() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(timeless: path, configuration())
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<50 {
                try await recorder.write(frames.picture(index))
                // Half a second is missing, and a tenth is repeated.
                if (12..<24).contains(index) { continue }
                let again = index == 40 ? 4800 : 0
                _ = try recorder.consume(
                    frames.sound(from: index * 1920 - again, samples: 1920 + again))
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.audio?.corrections?.insertedSamples == 12 * 1920)
            #expect(report.audio?.corrections?.droppedSamples == 4800)
            let heard = try await samples(of: path)
            #expect(heard.count == 96_000)
            #expect(Array(heard[..<23_040]) == expected(0..<23_040))
            #expect(heard[23_040..<46_080].allSatisfy { $0 == 0 })
            #expect(Array(heard[46_080...]) == expected(46_080..<96_000))
        }
    }

    @Test(arguments: [9, 11]) func onlyGapsOfUpToTenSecondsAreFilled(seconds: Int) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(timeless: directory.file("out.mkv"), configuration())
            try recorder.start()
            let frames = RecordedFrames()
            let missing = 12..<12 + seconds * 25
            for index in 0..<missing.upperBound + 25 {
                try await recorder.write(frames.picture(index))
                if missing.contains(index) { continue }
                _ = try recorder.consume(frames.sound(from: index * 1920, samples: 1920))
            }
            let corrections = try #require(try await recorder.stop().audio?.corrections)
            #expect(corrections.insertedSamples == (seconds == 9 ? 9 * 48_000 : 0))
            #expect(corrections.jumps == (seconds == 9 ? 0 : 1))
        }
    }

    @Test func opusSegmentsHaveEverySample() async throws {
        try await withTemporaryDirectory { directory in
            var counts: [Int] = []
            for length in [100, 1] {
                let recorder = try Recorder(
                    timeless: directory.file("out\(length).mkv"),
                    configuration(audio: .opus) {
                        $0.segments = RecordingSegments(length: .seconds(length))
                    })
                try recorder.start()
                try await record(0..<100, of: RecordedFrames(), into: recorder)
                var count = 0
                for file in try await recorder.stop().files {
                    count += try await MediaProbe.audioSamples(of: file.path)
                }
                counts.append(count)
            }
            #expect(counts[0] == counts[1], "\(counts)")
        }
    }

    @Test func videoContinuesWithSilenceWhenLiveAudioStops() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(timeless: path, configuration())
            try recorder.start()
            try await record(0..<25, of: live, into: recorder)
            for index in 25..<150 { try await recorder.write(live.picture(index)) }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.written == 150)
            let heard = try await samples(of: path)
            #expect(Array(heard[..<48_000]) == expected(0..<48_000))
            // Video ends at 6 s; the silence stays a second behind.
            #expect(heard.count >= 5 * 48_000 - 9600 && heard[48_000...].allSatisfy { $0 == 0 })
        }
    }

    @Test func stoppedLiveVideoRepeatsItsLastFrame() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(timeless: path, configuration())
            try recorder.start()
            try await record(0..<25, of: live, into: recorder)
            for index in 25..<125 {
                _ = try recorder.consume(live.sound(from: index * 1920, samples: 1920))
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.offered == 25)
            #expect(report.video?.repeated == 4)
            #expect(report.video?.written == 29)
            #expect(try await samples(of: path) == expected(0..<240_000))
        }
    }

    @Test func clockSetBackLosesNoFrame() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try Recorder(timeless: path, configuration(audio: nil))
            try recorder.start()
            let frames = RecordedFrames()
            for index in 0..<50 {
                let second = Double(index) / 25 + (index < 25 ? 500 : 100)
                try await recorder.write(frames.picture(index, at: MediaTime(seconds: second)))
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.written == 50)
            let times = try await MediaProbe.videoTimes(of: path)
            for (index, time) in times.enumerated() {
                #expect(abs(time - Double(index) / 25) < 0.002)
            }
        }
    }
}
