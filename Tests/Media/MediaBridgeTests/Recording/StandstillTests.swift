import MediaBridge
import TestSupport
import Testing

/// Live streams after the process was suspended: each delivers its backlog, one after the other.
@Suite(.hangGuard) struct StandstillTests {
    private let live = RecordedFrames(
        liveTiming: LiveTiming(clockOrigin: MediaTime(seconds: 100), latency: .zero))

    /// Records 1 s, stops for 5 s, and then receives the frames of these 5 s.
    private func record(
        into path: String, _ rest: (Recorder, Range<Int>) async throws -> Void
    ) async throws -> RecorderReport {
        var configuration = Recorder.Configuration()
        configuration.audio = AudioEncoding(.flac)
        configuration.whenFull = .wait
        let clock = VirtualTimeline()
        let recorder = try Recorder(path, configuration: configuration, clock: clock)
        try recorder.start()
        for index in 0..<25 {
            try await recorder.write(live.picture(index))
            _ = try recorder.consume(live.sound(from: index * 1920, samples: 1920))
            clock.advance(by: .milliseconds(40))
        }
        clock.advance(by: .seconds(5))
        try await rest(recorder, 25..<150)
        let report = try await recorder.stop()
        expectBalanced(report)
        return report
    }

    @Test func recordsThePicturesThatArriveAfterTheirSound() async throws {
        try await withTemporaryDirectory { directory in
            let report = try await record(into: directory.file("out.mkv")) { recorder, rest in
                for index in rest {
                    _ = try recorder.consume(live.sound(from: index * 1920, samples: 1920))
                }
                for index in rest { try await recorder.write(live.picture(index)) }
            }
            #expect(report.video?.repeated == 0 && report.video?.dropped.total == 0)
            #expect(report.video?.written == 150)
        }
    }

    @Test func recordsTheSoundThatArrivesAfterItsPictures() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let report = try await record(into: path) { recorder, rest in
                for index in rest { try await recorder.write(live.picture(index)) }
                for index in rest {
                    _ = try recorder.consume(live.sound(from: index * 1920, samples: 1920))
                }
            }
            #expect(report.audio?.repeated == 0)
            #expect(report.audio?.corrections?.overlaps == 0)
            #expect(try await MediaProbe.audioSamples(of: path) == 150 * 1920)
        }
    }
}
