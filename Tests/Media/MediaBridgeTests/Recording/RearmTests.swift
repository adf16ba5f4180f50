import Foundation
import MediaBridge
import TestSupport
import Testing

/// A recorder for events: one file for each event, without a loss between them.
@Suite(.hangGuard) struct RearmTests {
    private let frames = RecordedFrames(
        liveTiming: LiveTiming(
            clockOrigin: MediaTime(seconds: 100), latency: MediaTime(seconds: 0.04)))

    private func recorder(
        _ path: String, preRoll: Duration?, audio: AudioEncoding? = AudioEncoding()
    ) throws -> Recorder {
        var configuration = Recorder.Configuration()
        configuration.audio = audio
        configuration.preRoll = preRoll
        configuration.whenFull = .wait
        return try Recorder(timeless: path, configuration)
    }

    private func record(_ range: Range<Int>, into recorder: Recorder) async throws {
        for index in range {
            try await recorder.write(frames.picture(index))
            _ = try recorder.consume(frames.sound(from: index * 1920, samples: 1920))
        }
    }

    /// Expects a file of `count` frames that begins with frame `first`.
    private func expect(_ path: String, from first: Int, count: Int) async throws {
        let luma = try await MediaProbe.luma(of: path).map { $0[0] }
        #expect(luma.count == count)
        for (index, shade) in luma.enumerated() {
            #expect(RecordedFrames.isShade(shade, of: first + index), "picture \(index)")
        }
    }

    @Test(arguments: ["mkv", "mp4", "webm", "ts"])
    func eachEventHasAFileWithItsPreRoll(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try recorder(directory.file("out.\(ending)"), preRoll: .seconds(1))
            try await record(0..<100, into: recorder)
            try recorder.start()
            try await record(100..<150, into: recorder)
            let first = try await recorder.rearm()
            #expect(first.files.count == 1 && first.ended == .stop)
            let begin = 150 - first.files[0].frames
            // The pre-roll is a minimum: frames in flight at the start are included.
            #expect(begin <= 75)
            try await expect(first.files[0].path, from: begin, count: 150 - begin)

            try await record(150..<250, into: recorder)
            try recorder.start()
            try await record(250..<300, into: recorder)
            let last = try await recorder.stop()
            #expect(directory.contents == ["out-00001.\(ending)", "out.\(ending)"])
            let again = 300 - last.files[1].frames
            #expect((150...225).contains(again))
            try await expect(last.files[1].path, from: again, count: 300 - again)
            let track = try #require(last.video)
            #expect(track.offered == 300)
            #expect(track.offered + track.repeated == track.written + track.dropped.total)
        }
    }

    @Test func adjacentEventsShareNoFrameAndLoseNone() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try recorder(directory.file("out.mkv"), preRoll: .seconds(5))
            try recorder.start()
            try await record(0..<60, into: recorder)
            try await recorder.rearm()
            try await record(60..<70, into: recorder)
            try recorder.start()
            try await record(70..<90, into: recorder)
            let report = try await recorder.stop()
            #expect(report.files.map(\.frames) == [60, 30])
            try await expect(report.files[0].path, from: 0, count: 60)
            try await expect(report.files[1].path, from: 60, count: 30)
            #expect(report.video?.written == 90 && report.video?.dropped.total == 0)
        }
    }

    @Test func nothingIsKeptBetweenRecordingsWithoutAPreRoll() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try recorder(directory.file("out.mkv"), preRoll: nil)
            try recorder.start()
            try await record(0..<50, into: recorder)
            try await recorder.rearm()
            try await record(50..<100, into: recorder)
            try recorder.start()
            try await record(100..<150, into: recorder)
            let report = try await recorder.stop()
            #expect(report.files.map(\.frames) == [50, 50] && report.video?.offered == 100)
            try await expect(report.files[1].path, from: 100, count: 50)
        }
    }

    @Test func rearmingAnIdleRecorderIsAnError() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try recorder(directory.file("out.mkv"), preRoll: .seconds(1))
            let early = await #expect(throws: PipelineError.self) {
                try await recorder.rearm()
            }
            #expect(early?.code == .invalidState)
            try recorder.start()
            let empty = await #expect(throws: PipelineError.self) {
                try await recorder.rearm()
            }
            #expect(empty?.code == .noFrames)
            // The recorder is armed after this error.
            try recorder.start()
            try await record(0..<25, into: recorder)
            #expect(try await recorder.stop().files.map(\.frames) == [25])
        }
    }
}
