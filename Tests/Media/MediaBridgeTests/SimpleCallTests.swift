import Foundation
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Calls that a new user writes because they are the obvious ones.
@Suite(.hangGuard)
struct SimpleCallTests {
    @Test func programWritesVideoAndAudioToARecorder() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            var configuration = Recorder.Configuration()
            configuration.audio = AudioEncoding()
            let recorder = try Recorder(path, configuration: configuration)
            try recorder.start()
            let format = AudioFormat(.s16le, sampleRate: 48_000, channels: 1)
            for index in 0..<25 {
                let time = MediaTime(value: Int64(index), timescale: 25)
                try await recorder.write(
                    VideoFrame(VideoFormat(.i420, width: 64, height: 48), runningTime: time))
                try await recorder.write(
                    AudioFrame(silence: format, sampleCount: 1920, runningTime: time))
            }
            try await recorder.stop()
            let probe = try await MediaProbe(of: path)
            #expect(probe.video?.frames == 25)
            #expect(probe.audio?.codec == "aac")
        }
    }

    @Test func closureWritesFrames() async throws {
        try await withTemporaryDirectory { directory in
            let count = Atomic<Int>(0)
            try await Bridge.run(
                capture: "videotestsrc num-buffers=3 ! video/x-raw,format=RGB,width=32,height=16"
            ) { frame in
                let number = count.add(1, ordering: .relaxed).newValue
                try frame.writePicture(to: directory.file("\(number).png"))
            }
            #expect(Set(directory.contents) == ["1.png", "2.png", "3.png"])
            #expect(try await MediaProbe(of: directory.file("3.png")).video?.width == 32)
        }
    }
}

/// The raw format that a capture delivers if its string leaves the choice open.
@Suite(.hangGuard)
struct ChosenFormatTests {
    private static let size = "video/x-raw,width=64,height=48"

    @Test(arguments: [
        ("videotestsrc num-buffers=3 ! \(size)", "I420"),
        ("videotestsrc num-buffers=3 ! \(size) ! videoconvert", "I420"),
        ("videotestsrc num-buffers=3 ! videoscale ! \(size)", "I420"),
        ("videotestsrc num-buffers=3 ! \(size),format=RGB", "RGB"),
        ("videotestsrc num-buffers=3 ! \(size),format=RGB ! videoconvert", "RGB"),
        ("videotestsrc num-buffers=3 ! \(size),format=I420_10LE ! videoconvert", "I420_10LE"),
        ("videotestsrc num-buffers=3 ! \(size),format={YUY2,NV12}", "NV12"),
        ("videotestsrc num-buffers=3 ! \(size) ! appsink caps=video/x-raw,format=BGRA", "BGRA"),
    ])
    func sourceDeliversAWidelySupportedFormat(capture: String, format: String) async throws {
        var formats: Set<String> = []
        for try await frame in try PipelineVideoSource(capture).frames() {
            formats.insert(frame.format.pixelFormat.rawValue)
        }
        #expect(formats == [format])
    }

    @Test(arguments: [
        ("videotestsrc num-buffers=3 ! \(size)", "yuv420p"),
        ("videotestsrc num-buffers=3 ! \(size) ! videoconvert", "yuv420p"),
        ("videotestsrc num-buffers=3 ! \(size),format=I420_10LE", "yuv420p10le"),
    ])
    func recordingHasAWidelySupportedFormat(capture: String, format: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mkv")
            var plan = BridgePlan(capture: capture)
            plan.recordings = [.init(path: path)]
            try await Bridge(plan).run().get()
            let found = try await Tool.check(
                "ffprobe",
                ["-v", "error", "-show_entries", "stream=pix_fmt", "-of", "csv=p=0", path])
            #expect(found.contains("\(format)\n"), "\(found)")
        }
    }
}
