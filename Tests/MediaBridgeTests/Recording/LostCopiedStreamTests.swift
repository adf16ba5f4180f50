import Foundation
import MediaBridge
import TestSupport
import Testing

/// One of two live streams that are copied stays away while the other goes on.
@Suite(.deadline(minutes: 2)) struct LostCopiedStreamTests {
    /// Pictures with a key unit in ten, and a unit of sound for each.
    private struct Source {
        private static let live = LiveTiming(
            clockOrigin: MediaTime(seconds: 100), latency: .zero)
        let recorder: Recorder
        let units: [EncodedVideoFrame]

        enum Streams { case both, pictures, sound }

        /// - Parameter pace: From one unit to the next; their times say 40 ms.
        func give(
            _ range: Range<Int>, _ streams: Streams, pace: Duration = .milliseconds(40)
        ) async throws {
            let start = ContinuousClock.now
            for index in range {
                try await Task.sleep(until: start + pace * (index - range.lowerBound))
                let time = MediaTime(value: Int64(index), timescale: 25)
                if streams != .sound {
                    var unit = units[index % units.count]
                    unit.runningTime = time
                    unit.liveTiming = Self.live
                    recorder.consume(unit)
                }
                if streams != .pictures {
                    var unit = EncodedAudioFrame(
                        .alaw, bytes: [UInt8](repeating: 0x55, count: 320), runningTime: time,
                        duration: MediaTime(value: 1, timescale: 25), sampleRate: 8_000,
                        channelCount: 1)
                    unit.liveTiming = Self.live
                    recorder.consume(unit)
                }
            }
        }
    }

    /// Records as a copy, and returns what came of it.
    private func record(
        into path: String, _ body: (Source) async throws -> Void
    ) async throws -> (report: RecorderReport, isStallTold: Bool) {
        var configuration = Recorder.Configuration()
        configuration.video = .copy
        configuration.audio = .copy
        let recorder = try Recorder(path, configuration: configuration)
        let events = recorder.events
        async let isStallTold = events.contains { if case .stalled = $0 { true } else { false } }
        try recorder.start()
        try await body(
            Source(
                recorder: recorder,
                units: EncodedUnits.h264(
                    10, settings: "tune=zerolatency key-int-max=10 option-string=scenecut=0")))
        let report = try await recorder.stop()
        expectBalanced(report)
        return (report, await isStallTold)
    }

    @Test func picturesGoIntoTheFileWithoutSoundThatStaysAway() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let (report, isStallTold) = try await record(into: path) { source in
                try await source.give(0..<25, .both)
                try await source.give(25..<105, .pictures)
                // Somebody who is killed now loses one picture, and not those of four seconds.
                while try await MediaProbe(of: path).video?.frames ?? 0 < 104 {
                    try await Task.sleep(for: .milliseconds(100))
                }
                try await source.give(105..<150, .both)
            }
            #expect(!isStallTold, "the disk was blamed")
            #expect(report.video?.written == 150)
            // Sound begins again with the next key unit.
            #expect(report.files.map(\.frames) == [110, 40])
            #expect(report.audio?.droppedUnits[.late] ?? 0 <= 6)
            for file in report.files {
                #expect(try await MediaProbe(of: file.path).streams.count == 2)
            }
        }
    }

    @Test func picturesThatComeBackAreRecordedFromTheirFirstKeyUnitOn() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let (report, isStallTold) = try await record(into: path) { source in
                try await source.give(0..<30, .both)
                // Sound that follows the pictures is in the file once that does not wait for them
                // any more.
                var next = 30
                while try await MediaProbe(of: path).audio?.frames ?? 0 < 100 {
                    try await source.give(next..<next + 50, .sound, pace: .milliseconds(20))
                    next += 50
                }
                try await source.give(next..<next + 20, .both)
            }
            #expect(!isStallTold, "the disk was blamed")
            #expect(report.video?.dropped.total == 0)
            #expect(report.files.map(\.frames) == [30, 20])
            for file in report.files {
                #expect(try await MediaProbe(of: file.path).video?.frames == file.frames)
            }
        }
    }
}
