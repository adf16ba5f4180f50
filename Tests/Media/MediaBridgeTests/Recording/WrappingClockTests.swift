import MediaBridge
import TestSupport
import Testing

/// Streams whose timestamps wrap while they are recorded.
@Suite(.hangGuard) struct WrappingClockTests {
    private static func record(
        _ capture: String, to path: String, isCopy: Bool
    ) async throws -> RecorderReport {
        var configuration = Recorder.Configuration()
        if isCopy { configuration.video = .copy }
        configuration.audio = isCopy ? .copy : AudioEncoding()
        var plan = BridgePlan(capture: capture)
        plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
        let bridge = try Bridge(plan)
        let result = await bridge.run()
        #expect(result.failures.isEmpty, "\(result.failures)")
        return bridge.recorders[0].report
    }

    private static func expectWhole(
        _ path: String, _ report: RecorderReport, frames: Int, seconds: Double
    ) async throws {
        #expect(report.files.count == 1 && report.video?.dropped.total == 0)
        let times = try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
                "csv=p=0", path,
            ]
        ).split(whereSeparator: { ",\n".contains($0) }).compactMap { Double($0) }.sorted()
        #expect(times.count == frames)
        let length = (times.last ?? 0) - (times.first ?? 0)
        #expect(abs(length - seconds) < 0.2, "\(length) s")
    }

    @Test(arguments: [true, false], ["mkv", "mp4", "ts"])
    func timestampsOfTransportStreamsWrap(isCopy: Bool, container: String) async throws {
        try await withTemporaryDirectory { directory in
            let source = directory.file("source.ts")
            // The clock of 33 bits wraps after 95,443.7 s.
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=30:d=6", "-f", "lavfi",
                    "-i", "sine=d=6:r=48000", "-c:v", "libx264", "-g", "15", "-c:a", "aac",
                    "-output_ts_offset", "95440.7", source,
                ])
            let (demuxer, video, audio) =
                isCopy
                ? ("tsdemux", "h264parse", "aacparse")
                : ("decodebin", "videoconvert", "audioconvert")
            let path = directory.file("out.\(container)")
            let report = try await Self.record(
                "filesrc location=\(source) ! \(demuxer) name=d d. ! \(video) ! appsink name=video "
                    + "d. ! \(audio) ! appsink name=audio", to: path, isCopy: isCopy)
            try await Self.expectWhole(path, report, frames: 180, seconds: 179.0 / 30)
        }
    }

    @Test(arguments: ["mkv", "mp4", "ts"])
    func timestampsOfRTPWrap(container: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container)")
            // One second before the 32 bits wrap, at 90 kHz and at 48 kHz.
            let report = try await Self.record(
                "videotestsrc is-live=true num-buffers=60 "
                    + "! video/x-raw,width=64,height=48,framerate=30/1 "
                    + "! x264enc tune=zerolatency key-int-max=15 "
                    + "! rtph264pay timestamp-offset=4294877296 ! rtpjitterbuffer latency=2000 "
                    + "! rtph264depay ! h264parse ! appsink name=video "
                    + "audiotestsrc is-live=true num-buffers=100 samplesperbuffer=960 "
                    + "! audio/x-raw,rate=48000,channels=1 ! avenc_aac ! aacparse "
                    + "! rtpmp4gpay timestamp-offset=4294919296 ! rtpjitterbuffer latency=2000 "
                    + "! rtpmp4gdepay ! aacparse ! appsink name=audio", to: path, isCopy: true)
            try await Self.expectWhole(path, report, frames: 60, seconds: 59.0 / 30)
        }
    }
}
