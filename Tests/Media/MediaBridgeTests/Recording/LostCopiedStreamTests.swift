import Foundation
import GStreamerKit
import MediaCore
import TestSupport
import Testing

@testable import MediaBridge

/// One of two live streams that are copied stops while the other continues.
@Suite(.hangGuard) struct LostCopiedStreamTests {
    /// A camera's access units with a key unit in ten, and an audio unit for each, in virtual time.
    private struct Source {
        private static let live = LiveTiming(
            clockOrigin: MediaTime(seconds: 100), latency: .zero)
        private static let interval = MediaTime(value: 1, timescale: 25)
        let recorder: Recorder
        let clock: VirtualTimeline
        let units: [EncodedVideoFrame]

        enum Streams { case both, pictures, sound }

        /// Delivers units, and lets 40 ms pass after each, as their timestamps state.
        func give(_ range: Range<Int>, _ streams: Streams) async {
            for index in range {
                let time = MediaTime(value: Int64(index), timescale: 25)
                if streams != .sound {
                    var unit = units[index % units.count]
                    unit.runningTime = time
                    unit.liveTiming = Self.live
                    #expect(recorder.consume(unit) == .accepted)
                    await arrival(.video, at: time)
                }
                if streams != .pictures {
                    var unit = EncodedAudioFrame(
                        .alaw, bytes: [UInt8](repeating: 0x55, count: 320), runningTime: time,
                        duration: Self.interval, sampleRate: 8_000, channels: 1)
                    unit.liveTiming = Self.live
                    #expect(recorder.consume(unit) == .accepted)
                    await arrival(.audio, at: time)
                }
                clock.advance(by: Self.interval)
            }
        }

        /// Suspends until the writer has a unit with this time.
        private func arrival(_ stream: RecordedStream, at time: MediaTime) async {
            let due = time + RecordingTimeline.lead
            await recorder.wait { $0.course.interleaver.newest(stream).map { $0 >= due } ?? false }
        }
    }

    /// Records without re-encoding.
    private func record(
        into path: String, _ body: (Source) async throws -> Void
    ) async throws -> RecorderReport {
        var configuration = Recorder.Configuration()
        configuration.video = .copy
        configuration.audio = .copy
        configuration.whenFull = .wait
        let clock = VirtualTimeline()
        let recorder = try Recorder(path, configuration: configuration, clock: clock)
        try recorder.start()
        try await body(
            Source(
                recorder: recorder, clock: clock,
                units: EncodedUnits.h264(
                    10, settings: "tune=zerolatency key-int-max=10 option-string=scenecut=0")))
        let report = try await recorder.stop()
        expectBalanced(report)
        return report
    }

    /// Otherwise the recorder would report a stall and blame the disk.
    @Test func missingStreamDoesNotDelayTheFile() async throws {
        func unit(_ stream: RecordedStream, _ index: Int) throws -> EncodedUnit {
            guard let buffer = Buffer.copying([UInt8](repeating: 0x55, count: 320)) else {
                throw FrameError(.outOfMemory, "no memory")
            }
            let caps =
                stream == .video
                ? "video/x-vp8, width=64, height=48" : "audio/x-alaw, rate=8000, channels=1"
            return EncodedUnit(
                stream, buffer, caps: try Caps(caps),
                time: MediaTime(value: Int64(index), timescale: 25),
                isFirst: index == 0, isKey: true, arrival: .zero)
        }
        try await withTemporaryDirectory { directory in
            try GStreamer.initialize()
            let claim = try ClaimedFile(directory.file("out.mkv"), mustBeNew: true)
            let file = try RecordingFile(
                try #require(claim), index: 0, container: .mkv,
                first: [.video: unit(.video, 0), .audio: unit(.audio, 0)],
                timeline: RecordingTimeline(leader: .video, wallClock: WallClock()))
            try file.open()
            // The muxer takes one of these units, and the others wait in the file's queue.
            for index in 0..<20 { #expect(file.push(try unit(.audio, index))) }
            #expect(!file.isHeldUp(beyond: 8))
            try? await file.finish(stallTimeout: .seconds(5), deadline: .seconds(5))
        }
    }

    /// A file with only audio would claim that the video was recorded.
    @Test func aRecordingWithoutADecodablePictureFails() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = Recorder.Configuration()
            (configuration.video, configuration.audio) = (.copy, .copy)
            let recorder = try Recorder(directory.file("out.mkv"), configuration: configuration)
            try recorder.start()
            let units = try await EncodedUnits.h264(50)
            let count = units.count { !$0.isKeyFrame }
            for (index, unit) in units.enumerated() {
                let time = MediaTime(value: Int64(index), timescale: 25)
                var sound = EncodedAudioFrame(
                    .alaw, bytes: [UInt8](repeating: 0x55, count: 320), runningTime: time,
                    duration: MediaTime(value: 1, timescale: 25), sampleRate: 8_000,
                    channels: 1)
                sound.liveTiming = LiveTiming(clockOrigin: .zero, latency: .zero)
                #expect(recorder.consume(sound).isAccepted)
                guard !unit.isKeyFrame else { continue }
                var picture = unit
                (picture.runningTime, picture.liveTiming) = (time, sound.liveTiming)
                #expect(recorder.consume(picture) == .dropped(.early))
            }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(
                error?.message.contains("none of \(count) frames was written") == true, "\(error!)")
            #expect(error?.advice?.contains("key frames") == true)
            #expect(recorder.report.audio?.written == 50)
            expectBalanced(recorder.report)
        }
    }

    @Test func videoIsRecordedWithoutTheMissingAudio() async throws {
        try await withTemporaryDirectory { directory in
            let report = try await record(into: directory.file("out.mkv")) { source in
                await source.give(0..<25, .both)
                await source.give(25..<105, .pictures)
                // If the process is killed now, only one frame is lost, and not those of three
                // seconds: the muxer has all of them and does not wait for audio.
                await source.recorder.wait(forUnits: 105 + 25)
                await source.recorder.wait { $0.writer.file?.hasEnded(.audio) == true }
                await source.give(105..<150, .both)
            }
            #expect(report.video?.written == 150)
            // Audio begins again with the next key unit. Audio of the same time may be handled
            // before the new file exists.
            #expect(report.files.map(\.frames) == [110, 40])
            #expect((5...6).contains(report.audio?.droppedEncodedFrames[.late] ?? 0))
            for file in report.files {
                #expect(try await MediaProbe(of: file.path).streams.count == 2)
            }
        }
    }

    @Test func returningVideoIsRecordedFromItsFirstKeyframe() async throws {
        try await withTemporaryDirectory { directory in
            let report = try await record(into: directory.file("out.mkv")) { source in
                await source.give(0..<30, .both)
                // The writer ends the file's video after the muxer has waited long for it.
                await source.give(30..<330, .sound)
                await source.give(330..<350, .both)
            }
            #expect(report.video?.dropped.total == 0)
            #expect(report.files.map(\.frames) == [30, 20])
            for file in report.files {
                #expect(try await MediaProbe(of: file.path).video?.frames == file.frames)
            }
        }
    }
}
