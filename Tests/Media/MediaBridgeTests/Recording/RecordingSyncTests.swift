import MediaBridge
import TestSupport
import Testing

/// Video and audio of the same moment, in a recording with many faults: frames are
/// lost, audio arrives late and with gaps, and both change to another source midway. Times are
/// given rather than measured, so a busy machine records the same.
@Suite(.hangGuard) struct RecordingSyncTests {
    private static let framesPerSecond = 25
    private static let seconds = 20
    /// The delay of the audio behind the video, in frames.
    private static let lateness = 15

    /// The first half is from one source, the second from another, whose own time restarts.
    private func place(_ index: Int) -> (time: MediaTime, live: LiveTiming) {
        let half = Self.framesPerSecond * Self.seconds / 2
        let (begin, number) =
            index < half ? (100.0, index) : (100 + Double(half) / 25, index - half)
        return (
            MediaTime(value: Int64(number), timescale: Int32(Self.framesPerSecond)),
            LiveTiming(clockOrigin: MediaTime(seconds: begin), latency: MediaTime(seconds: 0.04))
        )
    }

    private func isFlash(_ index: Int) -> Bool { index % Self.framesPerSecond == 12 }

    private func picture(_ index: Int) throws -> VideoFrame {
        let place = place(index)
        let format = VideoFormat(.i420, width: 64, height: 48)
        var frame = try VideoFrame(
            format, runningTime: place.time, duration: MediaTime(value: 1, timescale: 25))
        try frame.withMutablePlanes { planes in
            for plane in 0..<planes.count {
                let bytes = planes[plane]
                bytes.fill(plane > 0 ? 128 : isFlash(index) ? 235 : 16)
            }
        }
        frame.liveTiming = place.live
        return frame
    }

    private static let silence = [Int16](repeating: 0, count: 1920)
    private static let beep = (0..<480).map { Int16($0 % 48 < 24 ? 9000 : -9000) } + silence[480...]

    private func sound(_ index: Int) throws -> AudioFrame {
        let place = place(index)
        var frame = try AudioFrame(
            copying: isFlash(index) ? Self.beep : Self.silence, sampleRate: 48_000, channels: 1,
            runningTime: place.time)
        frame.liveTiming = place.live
        return frame
    }

    @Test(arguments: ["mkv", "mp4"])
    func flashAndBeepStayTogether(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            // Only the test itself loses anything here.
            configuration.whenFull = .wait
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            let count = Self.framesPerSecond * Self.seconds
            for index in 0..<count + Self.lateness {
                // One in seven frames is lost, and one in fifty audio blocks.
                if index < count, index % 7 != 3 || isFlash(index) {
                    try await recorder.write(picture(index))
                }
                let heard = index - Self.lateness
                if heard >= 0, heard % 50 != 40 { _ = try recorder.consume(sound(heard)) }
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.files.count == 1)
            #expect(report.audio?.corrections?.gaps == 10)

            let offsets = try await FlashAndBeep.offsets(in: path)
            #expect(offsets.count == Self.seconds - 2)
            let worst = offsets.map(abs).max() ?? .infinity
            #expect(worst <= 0.010, "\(worst * 1000) ms")
        }
    }

    /// If one stream begins later than the other, it does so in the file.
    @Test(arguments: ["mkv", "mp4", "webm", "ts"], [RecordingStart.pictures, .sound])
    func laterStreamBeginsLaterInTheFile(ending: String, later: RecordingStart) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            let frames = RecordedFrames()
            let delay = MediaTime(seconds: 0.3)
            for index in 0..<50 {
                let time = MediaTime(value: Int64(index), timescale: 25)
                try await recorder.write(
                    frames.picture(index, at: later == .pictures ? time + delay : time))
                _ = try recorder.consume(
                    frames.sound(
                        from: index * 1920, samples: 1920,
                        at: later == .sound ? time + delay : time))
            }
            try await recorder.stop()
            var begins: [Double] = []
            for stream in ["v", "a"] {
                let times = try await Tool.check(
                    "ffprobe",
                    [
                        "-v", "error", "-select_streams", stream, "-show_entries", "frame=pts_time",
                        "-of", "csv=p=0", path,
                    ])
                let first = times.split(whereSeparator: { ",\n".contains($0) }).first
                begins.append(try #require(first.flatMap { Double($0) }))
            }
            let expected = later == .sound ? 0.3 : -0.3
            #expect(abs(begins[1] - begins[0] - expected) <= 0.010)
        }
    }
}

/// Selects a stream of a recording.
enum RecordingStart: Sendable { case pictures, sound }
