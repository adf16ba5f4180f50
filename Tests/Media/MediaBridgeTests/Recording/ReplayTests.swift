import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// Saves the last seconds while everything continues.
@Suite(.hangGuard) struct ReplayTests {
    private let frames = RecordedFrames()

    private func configuration(
        _ change: (inout Recorder.Configuration) -> Void = { _ in }
    ) -> Recorder.Configuration {
        var configuration = Recorder.Configuration()
        configuration.whenFull = .wait
        configuration.replay = .seconds(2)
        change(&configuration)
        return configuration
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func theLastSecondsAreSavedBesideARecording(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try Recorder(path, configuration: configuration())
            try recorder.start()
            for index in 0..<125 { try await recorder.write(frames.picture(index)) }
            await recorder.wait(forReplay: 2)
            for number in 0..<2 {
                let replay = directory.file("replay-\(number).\(ending)")
                let files = try await recorder.saveReplay(replay)
                #expect(files.map(\.path) == [replay])
                let times = try await MediaProbe.videoTimes(of: replay)
                #expect(times.count == files[0].frames)
                // Two seconds, plus the part back to their keyframe.
                #expect((45...76).contains(times.count))
                for index in 125 + number * 10..<135 + number * 10 {
                    try await recorder.write(frames.picture(index))
                }
            }
            let short = directory.file("short.\(ending)")
            try await recorder.saveReplay(short, last: .seconds(1))
            let count = try await MediaProbe.videoTimes(of: short).count
            #expect((20...51).contains(count))
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.files.count == 1)
            #expect(report.video?.written == 145)
            let pictures = try await MediaProbe.pictures(of: path)
            #expect(pictures.count == 145)
            // After the stop, the replay contains the units kept so far: the end of the file.
            let last = directory.file("last.\(ending)")
            try await recorder.saveReplay(last)
            let kept = try await MediaProbe.pictures(of: last)
            #expect(kept == Array(pictures.suffix(kept.count)))
            #expect((45...76).contains(kept.count))
        }
    }

    @Test func replaySavesEncodedUnitsUnchanged() async throws {
        try await withTemporaryDirectory { directory in
            let sent = directory.file("sent.h264")
            var plan = BridgePlan(
                capture: "videotestsrc num-buffers=150 pattern=ball ! "
                    + "video/x-raw,width=64,height=48,framerate=50/1 ! "
                    + "x264enc speed-preset=ultrafast tune=zerolatency key-int-max=10 ! h264parse ! tee name=t ! queue "
                    + "! video/x-h264,stream-format=byte-stream ! filesink location=\(sent) "
                    + "t. ! queue ! appsink name=video "
                    + "audiotestsrc num-buffers=150 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=1 ! opusenc ! "
                    + "appsink name=audio")
            let unwritten = directory.file("out.mkv")
            plan.recordings = [BridgePlan.Recording(path: unwritten)]
            plan.recordings[0].configuration.audio = .copy
            plan.recordings[0].configuration.video = .copy
            plan.recordings[0].configuration.replay = .seconds(1)
            plan.recordings[0].startsWithBridge = false
            let bridge = try Bridge(plan)
            let recorder = bridge.recorders[0]
            async let ended = bridge.run()
            await recorder.wait(forReplay: 1)
            var replays: [String] = []
            for number in 0..<2 {
                let path = directory.file("replay-\(number).mkv")
                try await recorder.saveReplay(path)
                replays.append(path)
            }
            let report = try await ended.get()
            expectBalanced(report)
            #expect(!FileManager.default.fileExists(atPath: unwritten))
            let all = try await MediaProbe.pictures(of: sent)
            for path in replays {
                let pictures = try await MediaProbe.pictures(of: path)
                #expect(pictures.count >= 45)
                let begin = try #require(all.firstIndex(of: pictures[0]))
                #expect(pictures == Array(all[begin...].prefix(pictures.count)), "\(path)")
                let probe = try await MediaProbe(of: path)
                #expect(probe.video?.codec == "h264" && probe.audio?.codec == "opus")
            }
        }
    }

    @Test func anotherSizeStartsANewReplayFile() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                directory.file("out.mkv"), configuration: configuration { $0.replay = .seconds(5) })
            for (size, range) in [(32, 0..<50), (64, 50..<100)] {
                for index in range {
                    var picture = try PixelBuffer(
                        .i420, size: VideoSize(width: size, height: size))
                    try picture.withMutablePlanes { $0[0].fill(UInt8(index)) }
                    try await recorder.write(
                        VideoFrame(
                            picture.storage,
                            runningTime: MediaTime(value: Int64(index), timescale: 25),
                            duration: MediaTime(value: 1, timescale: 25)))
                }
            }
            await recorder.wait(forReplay: 3.9)
            let files = try await recorder.saveReplay(directory.file("replay.mkv"))
            // The last frame may still be in its encoder.
            #expect(files.count == 2 && files[0].frames == 50)
            #expect((48...50).contains(files[1].frames))
            #expect(
                files.map(\.path) == [
                    directory.file("replay.mkv"), directory.file("replay-00001.mkv"),
                ])
            _ = try? await recorder.stop()
        }
    }

    @Test func replayKeepsToItsMemoryLimit() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Recorder(
                directory.file("out.mkv"),
                configuration: configuration {
                    $0.video = VideoEncoding(.mjpeg)
                    $0.replayMemory = 30_000
                })
            for index in 0..<100 { try await recorder.write(frames.picture(index)) }
            let files = try await recorder.saveReplay(directory.file("replay.mkv"))
            let report = recorder.report
            #expect(report.replayBytes <= 30_000 && report.replayBytes > 0)
            #expect((1..<50).contains(files[0].frames))
            _ = try? await recorder.stop()
        }
    }

    @Test func failedReplayStatesItsCause() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let without = try Recorder(path)
            await #expect(throws: PipelineError.self) { try await without.saveReplay(path) }
            let recorder = try Recorder(path, configuration: configuration())
            for (name, code) in [
                (path, PipelineError.Code.noFrames), (directory.file("out.mp4"), .badValue),
            ] {
                let error = await #expect(throws: PipelineError.self) {
                    try await recorder.saveReplay(name)
                }
                #expect(error?.code == code)
            }
            for index in 0..<50 { try await recorder.write(frames.picture(index)) }
            await recorder.wait(forReplay: 1)
            await #expect(throws: PipelineError.self) {
                try await recorder.saveReplay(directory.file("nowhere/out.mkv"))
            }
            try await recorder.saveReplay(path)
            #expect(directory.contents == ["out.mkv"])
            _ = try? await recorder.stop()
        }
    }
}
