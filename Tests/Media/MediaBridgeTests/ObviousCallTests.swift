import Foundation
import MediaBridge
import Synchronization
import TestSupport
import Testing

/// Calls that a new user writes because they are the obvious ones.
@Suite(.hangGuard)
struct ObviousCallTests {
    @Test func picturesAndSoundOfAProgramAreWrittenToARecorder() async throws {
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

    @Test func aClosureWritesPictures() async throws {
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
