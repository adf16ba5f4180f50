import Foundation
import Glibc
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Media that comes encoded is recorded as it is.
@Suite(.deadline(minutes: 3)) struct CopyTests {
    /// Encoded media in a file of its own, and how it comes out of it.
    struct Film: Sendable, CustomTestStringConvertible {
        let codec: String
        let encoding: String
        let muxer: String
        let demuxer: String
        var isSound = false

        var testDescription: String { codec }

        /// Writes the film, and returns the capture that reads it.
        func capture(in directory: TemporaryDirectory, count: Int = 60) async throws -> String {
            let path = directory.file("source-\(codec)")
            let source =
                isSound
                ? "audiotestsrc num-buffers=\(count) wave=ticks ! audio/x-raw,rate=48000,channels=2"
                : "videotestsrc num-buffers=\(count) ! video/x-raw,format=I420,width=160,height=120,"
                    + "framerate=30/1"
            let line = "-q \(source) ! \(encoding) ! \(muxer) ! filesink location=\(path)"
            try await Tool.check("gst-launch-1.0", line.split(separator: " ").map(String.init))
            return "filesrc location=\(path) ! \(demuxer) ! queue ! appsink name="
                + (isSound ? "audio" : "video")
        }
    }

    /// Pictures that are decoded in another order than they are shown.
    static let reordered = Film(
        codec: "h264", encoding: "x264enc bframes=2 b-adapt=false key-int-max=15 ! h264parse",
        muxer: "mp4mux", demuxer: "qtdemux")
    static let films: [(Film, [String])] = [
        (reordered, ["mkv", "mp4", "ts"]),
        // Matroska stores no decoding times.
        (
            Film(
                codec: "h264",
                encoding: "x264enc bframes=2 b-adapt=false key-int-max=15 ! h264parse",
                muxer: "matroskamux", demuxer: "matroskademux"), ["mkv", "mp4", "ts"]
        ),
        (
            Film(
                codec: "hevc", encoding: "x265enc key-int-max=15 ! h265parse", muxer: "mp4mux",
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
                codec: "pcm_alaw",
                encoding: "audioconvert ! audioresample ! "
                    + "audio/x-raw,rate=8000,channels=1 ! alawenc", muxer: "matroskamux",
                demuxer: "matroskademux", isSound: true), ["mkv"]
        ),
    ]

    @Test(arguments: films)
    func unitsAreRecordedAsTheyAre(film: Film, endings: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let capture = try await film.capture(in: directory)
            let source = directory.file("source-\(film.codec)")
            for ending in endings {
                let path = directory.file("out.\(ending)")
                var plan = BridgePlan(capture: capture)
                plan.recordings = [BridgePlan.Recording(path: path)]
                plan.recordings[0].configuration.audio = AudioEncoding()
                let bridge = try Bridge(plan)
                let report = try await bridge.run().get()
                expectBalanced(report)
                let recorded = bridge.recorders[0].report
                let track = try #require(film.isSound ? recorded.audio : recorded.video)
                #expect(track.encoder == "copy" && track.dropped.total == 0)
                let probed = try await MediaProbe(of: path)
                #expect(probed.streams.map(\.codec) == [film.codec])
                // A transport stream has another form of H.264 and AAC.
                if ending != "ts" {
                    #expect(
                        try await MediaProbe.packets(of: path) == MediaProbe.packets(of: source))
                }
                guard !film.isSound else { continue }
                #expect(
                    try await MediaProbe.pictures(of: path) == MediaProbe.pictures(of: source))
                #expect(track.written == 60)
                let times = try await MediaProbe.videoTimes(of: path)
                for (index, time) in times.enumerated() {
                    #expect(abs(time - times[0] - Double(index) / 30) < 0.0015, "\(ending)")
                }
            }
        }
    }

    @Test func whatAContainerDoesNotTakeIsRefusedWithAWayOut() async throws {
        try await withTemporaryDirectory { directory in
            let capture = try await Self.reordered.capture(in: directory)
            var plan = BridgePlan(capture: capture)
            plan.recordings = [BridgePlan.Recording(path: directory.file("out.webm"))]
            let error = await #expect(throws: PipelineError.self) {
                try await Bridge(plan).run().get()
            }
            #expect(error?.message.contains("video/x-h264") == true)
            #expect(error?.advice?.contains("decodebin") == true)
            #expect(directory.contents == ["source-h264"])
        }
    }

    @Test func encodedPicturesAreNotMadeToAnotherCodec() async throws {
        try await withTemporaryDirectory { directory in
            var plan = BridgePlan(capture: try await Self.reordered.capture(in: directory))
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
    func segmentsBeginWithKeyUnitsAndLoseNone(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let capture = try await Self.reordered.capture(in: directory, count: 150)
            var plan = BridgePlan(capture: capture)
            plan.recordings = [BridgePlan.Recording(path: directory.file("out-%02d.\(ending)"))]
            plan.recordings[0].configuration.segments = RecordingSegments(length: .seconds(1))
            let bridge = try Bridge(plan)
            _ = try await bridge.run().get()
            let files = bridge.recorders[0].report.files
            #expect(files.map(\.frames) == [30, 30, 30, 30, 30])
            var decoded: [String] = []
            for file in files { decoded += try await MediaProbe.pictures(of: file.path) }
            #expect(
                try await decoded == MediaProbe.pictures(of: directory.file("source-h264")))
        }
    }

    @Test func anotherSizeBeginsAnotherFile() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            func source(_ width: Int) -> String {
                "videotestsrc num-buffers=30 ! video/x-raw,width=\(width),height=120,framerate=30/1 ! "
                    + "x264enc tune=zerolatency ! c."
            }
            var plan = BridgePlan(
                capture:
                    "concat name=c ! h264parse ! appsink name=video \(source(160)) \(source(320))")
            plan.recordings = [BridgePlan.Recording(path: path)]
            let bridge = try Bridge(plan)
            let report = try await bridge.run().get()
            expectBalanced(report)
            let files = bridge.recorders[0].report.files
            #expect(files.map(\.frames) == [30, 30])
            for (file, width) in zip(files, [160, 320]) {
                #expect(try await MediaProbe(of: file.path).video?.width == width)
            }
        }
    }

    /// A camera that gives H.264 with a key picture in ten.
    private static let camera =
        "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=50/1 ! "
        + "x264enc tune=zerolatency key-int-max=10 ! appsink name=video"

    @Test func aPauseEndsWithAKeyUnit() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var plan = BridgePlan(capture: Self.camera)
            plan.recordings = [BridgePlan.Recording(path: path)]
            let bridge = try Bridge(plan)
            let recorder = bridge.recorders[0]
            async let ended = bridge.run()
            /// Waits until the recorder has got so many more units.
            func next(_ count: Int) async {
                let before = recorder.report.video?.offered ?? 0
                while (recorder.report.video?.offered ?? 0) < before + count { await Task.yield() }
            }
            await next(15)
            for pause in 0..<3 {
                recorder.pause()
                await next(7 + pause)
                recorder.resume()
                await next(22)
            }
            bridge.stop()
            let report = try await ended.get()
            expectBalanced(report)
            let track = try #require(recorder.report.video)
            #expect(track.dropped[.paused] == track.dropped.total && track.dropped.total >= 24)
            #expect(try await MediaProbe(of: path).video?.frames == track.written)
            // What refers to a picture that is not there shows as an error.
            let said = try await Tool.run(
                "ffmpeg",
                ["-v", "warning", "-err_detect", "explode", "-i", path, "-f", "null", "-"])
            #expect(said.status == 0 && said.errors.isEmpty)
        }
    }

    @Test func aStuckDiskDropsUpToAKeyUnit() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            try #require(mkfifo(path, 0o600) == 0)
            signal(SIGPIPE, SIG_IGN)
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            // F_SETPIPE_SZ: a page.
            _ = fcntl(reader, 1_031, 4_096)
            var plan = BridgePlan(
                capture: Self.camera.replacing("framerate=50/1", with: "framerate=1000/1"))
            plan.recordings = [BridgePlan.Recording(path: path)]
            plan.recordings[0].configuration.stallTimeout = .seconds(1)
            let bridge = try Bridge(plan)
            let recorder = bridge.recorders[0]
            let events = recorder.events
            async let ended = bridge.run()
            for await event in events { if case .stalled = event { break } }
            while recorder.report.video?.dropped[.evicted] ?? 0 == 0 { await Task.yield() }
            bridge.stop()
            let report = await ended
            expectBalanced(report)
            #expect(report.failures.contains { $0.code == .deadlineExceeded })
            let track = try #require(recorder.report.video)
            #expect(track.dropped[.evicted] > 0)
            #expect(track.offered == track.written + track.dropped.total)
        }
    }

    /// A receiver gives pictures that come too fast one time, and parsers then give all but the
    /// first none; and from time to time it goes back by a second.
    @Test(arguments: ["mkv", "mp4", "ts"])
    func picturesThatComeTooFastAreAllRecordedInTheirOrder(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.udp()
            let path = directory.file("out.\(ending)")
            var plan = BridgePlan(
                capture: "udpsrc address=127.0.0.1 port=\(port) caps=application/x-rtp,media=video,"
                    + "clock-rate=90000,encoding-name=H264,payload=96 ! rtpjitterbuffer latency=50 "
                    + "! rtph264depay ! h264parse")
            plan.recordings = [BridgePlan.Recording(path: path)]
            plan.frameLimit = 150
            let bridge = try Bridge(plan)
            // Ten times as fast as the times of its packets say.
            let line =
                "videotestsrc ! video/x-raw,width=64,height=64,framerate=30/1 "
                + "! x264enc tune=zerolatency threads=1 key-int-max=10 ! identity sleep-time=3000 "
                + "! rtph264pay config-interval=1 pt=96 aggregate-mode=zero-latency "
                + "! udpsink host=127.0.0.1 port=\(port) sync=false"
            let report = try await withChildProcess(
                "gst-launch-1.0", line.split(separator: " ").map(String.init)
            ) { _ in await bridge.run() }
            expectBalanced(report)
            #expect(report.failures == [])
            let video = try #require(bridge.recorders[0].report.video)
            #expect(video.written == 150)
            #expect(video.balance.dropped[.noTime] == 0)
            #expect(try await MediaProbe(of: path).video?.frames == video.written)
            let times = try await MediaProbe.videoTimes(of: path)
            #expect(times.count == video.written)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        }
    }
}
