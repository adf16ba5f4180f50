import Foundation
import MediaBridge
import TestSupport
import Testing

extension ReadmeTests {
    /// The programs of the article, run on test sources in place of devices.
    @Suite struct ProgramTests {
        private static func pattern(_ name: String, frames: Int, rate: Int = 30) -> String {
            "videotestsrc num-buffers=\(frames) pattern=\(name) ! "
                + "video/x-raw,format=I420,width=320,height=240,framerate=\(rate)/1"
        }

        @Test func recordsEveryFrameOfTheCustomSource() async throws {
            try await withTemporaryDirectory { directory in
                await #expect(processExitsWith: .success) { [path = directory.path as String] in
                    try enter(path)
                    try await Example.customSource()
                }
                let luma = try await MediaProbe.meanLuma(of: directory.file("sunrise.mkv"))
                #expect(luma.count == 90)
                #expect(luma == luma.sorted() && luma[0] < 20 && luma[89] > 160)
            }
        }

        @Test func recordsFromFiveSecondsBeforeAMotionToTenSecondsAfterIt() async throws {
            try await withTemporaryDirectory { directory in
                let still = Self.pattern("white", frames: 120, rate: 10)
                let ball = Self.pattern("ball", frames: 20, rate: 10)
                let camera = "concat name=c \(still) ! c. \(ball) ! c. \(still) ! c."
                await #expect(processExitsWith: .success) {
                    [path = directory.path as String, camera = camera as String] in
                    try enter(path)
                    try await Example.motionRecorder(camera)
                }
                let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                #expect(files == ["motion.mkv"])
                let luma = try await MediaProbe.meanLuma(of: directory.file("motion.mkv"))
                // The ball on black lasts two seconds.
                let dark = luma.indices.filter { luma[$0] < 100 }
                #expect(dark.count == 20)
                // The file begins with a keyframe, so it may begin earlier.
                #expect((dark.first ?? 0) >= 50)
                #expect((100...105).contains(luma.count - 1 - (dark.last ?? 0)))
            }
        }

        @Test func putsTheSecondCameraIntoTheCornerOfTheFirst() async throws {
            try await withTemporaryDirectory { directory in
                let large = Self.pattern("white", frames: 60)
                let small = Self.pattern("black", frames: 60)
                await #expect(processExitsWith: .success) {
                    [
                        path = directory.path as String, large = large as String,
                        small = small as String
                    ] in
                    try enter(path)
                    try await Example.pictureInPicture(large, small)
                }
                let path = directory.file("both.mkv")
                let video = try await MediaProbe(of: path).video
                #expect(video?.width == 320 && video?.height == 240 && video?.frames == 60)
                let luma = try await MediaProbe.luma(of: path, columns: 20, rows: 15)
                // Fields of 16×16 pixels. The small picture begins at 16,16 and ends at 176,136.
                for picture in luma {
                    #expect(picture[20 + 1] < 40 && picture[7 * 20 + 10] < 40)
                    #expect(picture[20] > 200 && picture[9 * 20 + 11] > 200)
                }
            }
        }

        @Test func printsTheBrightnessOfEachFrame() async throws {
            let camera = Self.pattern("white", frames: 10)
            let result = await #expect(
                processExitsWith: .success, observing: [\.standardOutputContent]
            ) { [camera = camera as String] in
                try await Example.lightMeter(camera)
            }
            let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            let lines = output.split(separator: "\n").filter { $0.hasPrefix("brightness ") }
            // A slow machine drops frames.
            #expect((1...10).contains(lines.count))
            #expect(lines.allSatisfy { $0 == "brightness 235" })
        }

        @Test func endsWithTheErrorOfItsCamera() async throws {
            let camera = "videotestsrc num-buffers=50 ! identity error-after=5"
            await #expect(processExitsWith: .failure) { [camera = camera as String] in
                try await Example.lightMeter(camera)
            }
        }

        @Test func printsTheLevelOfTheSoundThatItRecords() async throws {
            try await withTemporaryDirectory { directory in
                // Blocks of 1024 samples. The peak of the wave is 0.5 of the largest sample.
                let microphone = "audiotestsrc num-buffers=100 volume=0.5 wave=square"
                let result = await #expect(
                    processExitsWith: .success, observing: [\.standardOutputContent]
                ) { [path = directory.path as String, microphone = microphone as String] in
                    try enter(path)
                    try await Example.levelMeter(microphone)
                }
                let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
                let bars = output.split(separator: "\n").filter { $0.hasPrefix("|") }
                #expect(bars.count == 100 && bars.allSatisfy { (29...30).contains($0.count) })
                let samples = try await MediaProbe.audioSamples(of: directory.file("talk.flac"))
                #expect(samples == 102_400)
            }
        }
    }
}
