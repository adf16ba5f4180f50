import Foundation
import MediaBridge
import TestSupport

/// Cameras whose clocks jump, drift, run backwards, restart or wrap.
enum Clocks {
    static let promises = [
        Promise(
            name: "clocks",
            fault: "A camera's clock jumps, drifts, runs backwards, restarts or wraps",
            text: "one file of the right duration; no frame is lost, or counted as `backwards`"
        ) { try await check($0) }
    ]

    private static func check(_ options: Options) async throws -> Finding {
        let media = try await ClockMedia()
        let seeds = (0..<UInt64(options.clocks)).map { options.seed &+ $0 }
        let complaints = try await inTurns(seeds, width: 2) { seed in
            var random = SeededGenerator(seed: seed)
            let item = ClockCase.random(&random)
            return try await problems(of: item, media).map { "seed \(seed), \(item): \($0)" }
        }
        return Finding("\(seeds.count) clocks", complaints: complaints.flatMap { $0 })
    }

    private static func problems(of item: ClockCase, _ media: ClockMedia) async throws -> [String] {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(item.container)")
            var complaints = Complaints()
            var (backwards, repeated) = (0, 0)
            do {
                let report = try await record(item, media, to: path)
                complaints.expect(report.files.count == 1, "\(report.files.count) files")
                let lost = [report.video, report.audio].compactMap { $0?.dropped }
                backwards = report.video?.dropped[.backwards] ?? 0
                repeated = report.video?.repeated ?? 0
                complaints.expect(
                    lost.allSatisfy { $0.total == (item.isCopy ? 0 : $0[.backwards]) },
                    "dropped: \(lost)")
            } catch { complaints.expect(false, "\(error)") }
            let found = try await ClockFile(of: path)
            let pictures = Int(item.length * 30)
            complaints.expect(
                found.pictures.count == pictures - backwards + repeated,
                "\(found.pictures.count) frames of \(pictures), \(backwards) went back, \(repeated) repeated"
            )
            complaints.expect(item.isCopy || found.isOrdered, "times go back")
            complaints.expect(
                abs(found.span - item.duration) < (item.runsBackwards ? 0.8 : 0.3),
                "lasts \(found.span.text) s instead of \(item.duration.text) s")
            complaints.expect(found.complaint == nil, "ffprobe: \(found.complaint ?? "")")
            let sounds = item.sounds
            if item.hasSound, item.isCopy {
                // mpegtsmux 1.22 sometimes omits the first unit.
                complaints.expect(
                    (item.container == "ts" ? sounds - 1...sounds : sounds...sounds).contains(
                        found.sounds.count), "\(found.sounds.count) audio of \(sounds)")
            }
            complaints.expect(
                abs(found.stated - found.span) < 0.6,
                "states \(found.stated.text) s of \(found.span.text) s")
            return complaints.all
        }
    }

    private static func record(
        _ item: ClockCase, _ media: ClockMedia, to path: String
    ) async throws -> RecorderReport {
        var configuration = Recorder.Configuration()
        configuration.whenFull = .wait
        if item.isCopy { configuration.video = .copy }
        configuration.audio = item.hasSound ? item.isCopy ? .copy : AudioEncoding() : nil
        let recorder = try Recorder(path, configuration: configuration)
        try recorder.start()
        let timing = LiveTiming(clockOrigin: .zero, latency: .zero)
        var (picture, sound) = (0, 0)
        while picture < Int(item.length * 30) {
            let passed = Double(picture) / 30
            let time = MediaTime(
                seconds: item.affected == .sound ? item.start + passed : item.time(after: passed))
            if item.isCopy {
                var unit = media.pictures(item.container)[picture % 30]
                unit.runningTime = time
                unit.decodingTime = nil
                unit.liveTiming = timing
                try await recorder.write(unit)
            } else {
                var frame = try VideoFrame(
                    VideoFormat(.i420, width: 64, height: 48), runningTime: time,
                    duration: MediaTime(seconds: 1.0 / 30))
                frame.liveTiming = timing
                _ = recorder.consume(frame)
            }
            picture += 1
            while item.hasSound, sound < item.sounds,
                item.end(ofSound: sound) < Double(picture) / 30
            {
                let passed = item.end(ofSound: sound - 1)
                let time = MediaTime(
                    seconds: item.affected == .pictures
                        ? item.start + passed : item.time(after: passed))
                if item.isCopy {
                    var unit = media.sounds(item.container)[1 + sound % 40]
                    unit.runningTime = time
                    unit.liveTiming = timing
                    try await recorder.write(unit)
                } else {
                    var frame = try AudioFrame(
                        copying: [Int16](repeating: 0, count: 960), sampleRate: 48_000,
                        channels: 1, runningTime: time)
                    frame.liveTiming = timing
                    _ = recorder.consume(frame)
                }
                sound += 1
            }
        }
        return try await recorder.stop()
    }
}

/// Encoded pictures and sound that cases repeat.
private struct ClockMedia: Sendable {
    private let h264: [EncodedVideoFrame]
    private let vp8: [EncodedVideoFrame]
    private let opus: [EncodedAudioFrame]
    private let aac: [EncodedAudioFrame]

    init() async throws {
        let raw =
            "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=48,framerate=30/1 ! "
        h264 = try await Self.pictures(
            raw + "x264enc tune=zerolatency key-int-max=15 option-string=scenecut=0 ! h264parse")
        vp8 = try await Self.pictures(raw + "vp8enc deadline=1 threads=1 keyframe-max-dist=15")
        let tone =
            "audiotestsrc num-buffers=50 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=1 ! "
        opus = try await Self.sounds(tone + "opusenc")
        aac = try await Self.sounds(tone + "avenc_aac ! aacparse")
    }

    private static func pictures(_ text: String) async throws -> [EncodedVideoFrame] {
        var units: [EncodedVideoFrame] = []
        for try await unit in try PipelineVideoSource(text).encodedFrames() { units.append(unit) }
        return units
    }

    private static func sounds(_ text: String) async throws -> [EncodedAudioFrame] {
        var units: [EncodedAudioFrame] = []
        for try await unit in try PipelineAudioSource(text).encodedFrames() { units.append(unit) }
        return units
    }

    func pictures(_ container: String) -> [EncodedVideoFrame] { container == "webm" ? vp8 : h264 }
    func sounds(_ container: String) -> [EncodedAudioFrame] {
        ["mkv", "webm"].contains(container) ? opus : aac
    }
}

/// The packets of a file.
private struct ClockFile {
    var pictures: [Double] = []
    var sounds: [Double] = []
    var stated = 0.0
    var complaint: String?

    var isOrdered: Bool {
        [pictures, sounds].allSatisfy { times in
            zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }
        }
    }
    var span: Double {
        let all = pictures + sounds
        return (all.max() ?? 0) - (all.min() ?? 0)
    }

    init(of path: String) async throws {
        let result = try await Tool.run(
            "ffprobe",
            [
                "-v", "error", "-show_entries", "packet=codec_type,pts_time:format=duration", "-of",
                "csv", path,
            ])
        for line in result.output.split(separator: "\n") {
            let fields = line.split(separator: ",")
            guard fields.count > 1 else { continue }
            if fields[0] == "format" { stated = Double(fields[1]) ?? 0 }
            guard fields.count > 2, let time = Double(fields[2]) else { continue }
            if fields[1] == "video" { pictures.append(time) } else { sounds.append(time) }
        }
        complaint = result.errors.split(separator: "\n").first.map(String.init)
    }
}
