import Foundation
import Glibc
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Encoded media is recorded unchanged.
@Suite(.hangGuard) struct CopyTests {
    /// Encoded media in a separate file, and the demuxer that reads it.
    struct Film: Sendable, CustomTestStringConvertible {
        let codec: String
        let encoding: String
        let muxer: String
        let demuxer: String
        var isSound = false

        var testDescription: String { codec }

        /// Creates the film once for all tests that need the same number of frames.
        ///
        /// - Returns: The path of the film, and the capture that reads it.
        func made(_ count: Int = 30) async throws -> (path: String, capture: String) {
            let path = try await SharedMedia.file("\(codec)-\(count).\(muxer)") { path in
                let source =
                    isSound
                    ? "audiotestsrc num-buffers=\(count) wave=ticks ! "
                        + "audio/x-raw,rate=48000,channels=2"
                    : "videotestsrc num-buffers=\(count) ! "
                        + "video/x-raw,format=I420,width=160,height=120,framerate=30/1"
                let line = "-q \(source) ! \(encoding) ! \(muxer) ! filesink location=\(path)"
                try await Tool.check("gst-launch-1.0", line.split(separator: " ").map(String.init))
            }
            return (path, capture(path))
        }

        /// Copies the film into a directory.
        ///
        /// - Returns: The capture that reads the copy.
        func capture(in directory: TemporaryDirectory, count: Int = 60) async throws -> String {
            let path = directory.file("source-\(codec)")
            try FileManager.default.copyItem(atPath: await made(count).path, toPath: path)
            return capture(path)
        }

        private func capture(_ path: String) -> String {
            "filesrc location=\(path) ! \(demuxer) ! queue ! appsink name="
                + (isSound ? "audio" : "video")
        }
    }

    /// Frames whose decoding order differs from their presentation order.
    static let reordered = Film(
        codec: "h264",
        encoding:
            "x264enc speed-preset=veryfast bframes=2 b-adapt=false key-int-max=15 ! h264parse",
        muxer: "mp4mux", demuxer: "qtdemux")
    static let films: [(Film, [String])] = [
        (reordered, ["mkv", "mp4", "ts"]),
        // Matroska stores no decoding times.
        (
            Film(
                codec: "h264",
                encoding:
                    "x264enc speed-preset=veryfast bframes=2 b-adapt=false key-int-max=15 ! h264parse",
                muxer: "matroskamux", demuxer: "matroskademux"), ["mkv", "mp4", "ts"]
        ),
        (
            Film(
                codec: "hevc",
                encoding: "x265enc speed-preset=ultrafast key-int-max=15 ! h265parse",
                muxer: "mp4mux",
                demuxer: "qtdemux"), ["mkv", "mp4", "ts"]
        ),
        (
            Film(
                codec: "vp8", encoding: "vp8enc deadline=1 keyframe-max-dist=15", muxer: "webmmux",
                demuxer: "matroskademux"), ["mkv", "webm"]
        ),
        (
            Film(
                codec: "vp9", encoding: "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=15",
                muxer: "webmmux", demuxer: "matroskademux"), ["mkv", "webm"]
        ),
        (
            Film(
                codec: "mjpeg", encoding: "jpegenc", muxer: "matroskamux", demuxer: "matroskademux"),
            ["mkv"]
        ),
        (
            Film(
                codec: "opus", encoding: "opusenc", muxer: "webmmux", demuxer: "matroskademux",
                isSound: true), ["mkv", "webm"]
        ),
        (
            Film(
                codec: "aac", encoding: "voaacenc ! aacparse", muxer: "matroskamux",
                demuxer: "matroskademux", isSound: true), ["mkv", "mp4", "ts"]
        ),
        (
            Film(
                codec: "mp3", encoding: "lamemp3enc ! mpegaudioparse", muxer: "matroskamux",
                demuxer: "matroskademux", isSound: true), ["mkv", "mp4"]
        ),
        (
            Film(
                codec: "flac", encoding: "flacenc ! flacparse", muxer: "matroskamux",
                demuxer: "matroskademux", isSound: true), ["mkv"]
        ),
        (
            Film(
                codec: "vorbis", encoding: "vorbisenc", muxer: "webmmux", demuxer: "matroskademux",
                isSound: true), ["mkv", "webm"]
        ),
        (
            Film(
                codec: "ac3", encoding: "avenc_ac3 ! ac3parse", muxer: "matroskamux",
                demuxer: "matroskademux", isSound: true), ["mkv", "ts"]
        ),
        (
            Film(
                codec: "av1",
                encoding: "av1enc cpu-used=10 usage-profile=realtime lag-in-frames=0 "
                    + "keyframe-max-dist=15 ! av1parse", muxer: "matroskamux",
                demuxer: "matroskademux ! av1parse"), ["mkv", "mp4", "webm"]
        ),
        (
            Film(
                codec: "pcm_alaw",
                encoding: "audioconvert ! audioresample ! "
                    + "audio/x-raw,rate=8000,channels=1 ! alawenc", muxer: "matroskamux",
                demuxer: "matroskademux", isSound: true), ["mkv"]
        ),
    ]

    @Test(arguments: films)
    func unitsAreRecordedUnchanged(film: Film, endings: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let (source, capture) = try await film.made()
            let packets = try await MediaProbe.packets(of: source)
            let pictures = film.isSound ? [] : try await MediaProbe.pictures(of: source)
            for ending in endings {
                let path = directory.file("out.\(ending)")
                var plan = BridgePlan(capture: capture)
                plan.recordings = [BridgePlan.Recording(path: path, audio: AudioEncoding())]
                let bridge = try Bridge(plan)
                let report = try await bridge.run().get()
                expectBalanced(report)
                let recorded = bridge.recorders[0].report
                let track = try #require(film.isSound ? recorded.audio : recorded.video)
                #expect(track.encoder == "copy" && track.dropped.total == 0)
                let probed = try await MediaProbe(of: path)
                #expect(probed.streams.map(\.codec) == [film.codec])
                // A transport stream stores H.264 and AAC in another stream format.
                if ending != "ts" {
                    #expect(try await MediaProbe.packets(of: path) == packets)
                }
                guard !film.isSound else { continue }
                #expect(try await MediaProbe.pictures(of: path) == pictures)
                #expect(track.written == 30)
                let times = try await MediaProbe.videoTimes(of: path)
                for (index, time) in times.enumerated() {
                    #expect(abs(time - times[0] - Double(index) / 30) < 0.0015, "\(ending)")
                }
            }
        }
    }

    @Test func codecUnsupportedByTheContainerIsRefusedWithAdvice() async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(capture: try await Self.reordered.made().capture)
            plan.recordings = [BridgePlan.Recording(path: directory.file("out.webm"))]
            let error = await #expect(throws: PipelineError.self) {
                try await Bridge(plan).run().get()
            }
            #expect(error?.message.contains("video/x-h264") == true)
            #expect(error?.advice?.contains("decodebin") == true)
            #expect(directory.contents.isEmpty)
        }
    }

    @Test func encodedVideoIsNotTranscoded() async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(capture: try await Self.reordered.made().capture)
            plan.recordings = [BridgePlan.Recording(path: directory.file("out.mkv"))]
            plan.recordings[0].configuration.video = VideoEncoding(.vp8)
            let error = await #expect(throws: PipelineError.self) {
                try await Bridge(plan).run().get()
            }
            #expect(error?.advice?.contains("decodebin") == true)
        }
    }

    @Test(arguments: ["video", "audio"])
    func aCopyingRecordingRefusesRawMedia(kind: String) async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(
                capture: kind == "video"
                    ? "videotestsrc num-buffers=30"
                    : "audiotestsrc num-buffers=30 ! appsink name=audio")
            plan.recordings = [BridgePlan.Recording(path: directory.file("out.mkv"))]
            plan.recordings[0].configuration.video = kind == "video" ? .copy : nil
            plan.recordings[0].configuration.audio = kind == "audio" ? .copy : nil
            let error = await #expect(throws: PipelineError.self) {
                try await Bridge(plan).run().get()
            }
            #expect(error?.message.contains("\(kind)/x-raw") == true)
        }
    }

    @Test(arguments: ["mkv", "mp4", "ts"])
    func segmentsBeginWithKeyframesAndLoseNoUnit(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let (source, capture) = try await Self.reordered.made(90)
            var plan = BridgePlan(capture: capture)
            plan.recordings = [BridgePlan.Recording(path: directory.file("out-%02d.\(ending)"))]
            plan.recordings[0].configuration.segments = RecordingSegments(length: .seconds(1))
            let bridge = try Bridge(plan)
            _ = try await bridge.run().get()
            let files = bridge.recorders[0].report.files
            #expect(files.map(\.frames) == [30, 30, 30])
            var decoded: [String] = []
            for file in files { decoded += try await MediaProbe.pictures(of: file.path) }
            #expect(try await decoded == MediaProbe.pictures(of: source))
        }
    }

    @Test func anotherSizeStartsANewFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            func source(_ width: Int) -> String {
                "videotestsrc num-buffers=30 ! video/x-raw,width=\(width),height=48,framerate=30/1 ! "
                    + "x264enc speed-preset=ultrafast tune=zerolatency ! c."
            }
            var plan = BridgePlan(
                capture:
                    "concat name=c ! h264parse ! appsink name=video \(source(64)) \(source(128))")
            plan.recordings = [BridgePlan.Recording(path: path)]
            let bridge = try Bridge(plan)
            let report = try await bridge.run().get()
            expectBalanced(report)
            let files = bridge.recorders[0].report.files
            #expect(files.map(\.frames) == [30, 30])
            for (file, width) in zip(files, [64, 128]) {
                #expect(try await MediaProbe(of: file.path).video?.width == width)
            }
        }
    }

    /// A camera's access units, with a key unit in ten.
    private static func camera(_ count: Int = 40) async throws -> [EncodedVideoFrame] {
        try await EncodedUnits.h264(
            count,
            settings: "speed-preset=ultrafast tune=zerolatency key-int-max=10 "
                + "option-string=scenecut=0"
        ).map {
            var unit = $0
            unit.liveTiming = LiveTiming(clockOrigin: MediaTime(seconds: 100), latency: .zero)
            return unit
        }
    }

    private func copying(
        _ path: String, _ change: (inout Recorder.Configuration) -> Void = { _ in }
    ) throws -> Recorder {
        var configuration = Recorder.Configuration()
        configuration.video = .copy
        change(&configuration)
        return try Recorder(path, configuration: configuration)
    }

    @Test func pauseEndsWithAKeyframe() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            let recorder = try copying(path) { $0.whenFull = .wait }
            try recorder.start()
            let units = try await Self.camera(110)
            for index in 0..<110 {
                switch index {
                case 15, 44, 74: recorder.pause()
                case 22, 52, 83: recorder.resume()
                default: break
                }
                var unit = units[index]
                unit.runningTime = MediaTime(value: Int64(index), timescale: 25)
                // The first key unit after each pause is unit 30, 60 and 90.
                let isDropped = [15..<30, 44..<60, 74..<90].contains { $0.contains(index) }
                let expected: FrameDisposition = isDropped ? .dropped(.paused) : .accepted
                #expect(recorder.consume(unit) == expected, "unit \(index)")
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            let track = try #require(report.video)
            #expect(track.dropped[.paused] == 47 && track.dropped.total == 47)
            #expect(track.written == 63)
            #expect(try await MediaProbe(of: path).video?.frames == 63)
            // ffmpeg reports a frame whose reference is missing.
            let said = try await Tool.run(
                "ffmpeg",
                ["-v", "warning", "-err_detect", "explode", "-i", path, "-f", "null", "-"])
            #expect(said.status == 0 && said.errors.isEmpty, "\(said.errors)")
        }
    }

    @Test func stuckDiskDropsUnitsUpToAKeyframe() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            try #require(mkfifo(path, 0o600) == 0)
            signal(SIGPIPE, SIG_IGN)
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            // F_SETPIPE_SZ: one page.
            _ = fcntl(reader, 1_031, 4_096)
            let recorder = try copying(path) { $0.stallTimeout = .seconds(1) }
            try recorder.start()
            let units = try await Self.camera()
            var (index, dropped) = (0, 0)
            func push() -> FrameDisposition {
                var unit = units[index % units.count]
                unit.runningTime = MediaTime(value: Int64(index), timescale: 1_000)
                index += 1
                return recorder.consume(unit)
            }
            // A full pipe, file, inbox and encoder together hold fewer units than this.
            while dropped == 0, index < 10_000 { dropped += push().isAccepted ? 0 : 1 }
            // The units up to the next key unit refer to the missing one.
            while index % 10 != 0 {
                #expect(push() == .dropped(.evicted))
                dropped += 1
            }
            let error = await #expect(throws: PipelineError.self) { try await recorder.stop() }
            #expect(error?.code == .deadlineExceeded)
            expectBalanced(recorder.report)
            let track = try #require(recorder.report.video)
            #expect(track.offered == index && track.dropped[.evicted] == dropped && dropped > 0)
            #expect(track.offered == track.written + track.dropped.total)
        }
    }

    /// The units of a receiver that catches up: it gives several of them the same time, and parsers
    /// then remove the time of all but the first. Sometimes its time goes back by a second.
    @Test(arguments: ["mkv", "mp4", "ts"])
    func burstOfUnitsIsRecordedCompletelyAndInOrder(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(ending)")
            let recorder = try copying(path) { $0.whenFull = .wait }
            try recorder.start()
            let units = try await Self.camera()
            for index in 0..<80 {
                var unit = units[index % units.count]
                let step = Int64(index / 4 * 4)
                unit.runningTime =
                    index % 4 > 1
                    ? nil : MediaTime(value: step - (index < 60 ? 0 : 30), timescale: 30)
                #expect(recorder.consume(unit) == .accepted, "unit \(index)")
            }
            let report = try await recorder.stop()
            expectBalanced(report)
            #expect(report.video?.written == 80 && report.video?.dropped.total == 0)
            #expect(try await MediaProbe(of: path).video?.frames == 80)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count == 80)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        }
    }
}
