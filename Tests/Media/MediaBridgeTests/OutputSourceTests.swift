import Foundation
import MediaBridge
import TestSupport
import Testing

/// Sources in an output's own string, in addition to the captured frames.
@Suite(.hangGuard)
struct OutputSourceTests {
    private static let capture =
        "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=64,height=48,framerate=25/1"

    /// Runs a video output that adds its own audio source.
    ///
    /// - Returns: The last video and audio times in the file, in seconds.
    private func ends(
        sound: String, muxer: String = "matroskamux", frames: Int? = nil
    ) async throws -> (pictures: Double, sound: Double) {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out")
            var plan = BridgePlan(
                capture: Self.capture,
                outputs: [
                    "\(muxer) name=mux ! filesink location=\(path)  "
                        + "\(sound) ! voaacenc ! mux.  x264enc bframes=0 ! mux."
                ])
            plan.frameLimit = frames
            try await Bridge(plan).run().get()
            return (
                try #require(try await MediaProbe.videoTimes(of: path).max()),
                try #require(try await MediaProbe.audioTimes(of: path).max())
            )
        }
    }

    @Test(arguments: ["matroskamux", "flvmux", "mp4mux"])
    func finiteSourceIsRecordedToItsEnd(muxer: String) async throws {
        let ends = try await ends(
            sound: "audiotestsrc samplesperbuffer=44100 num-buffers=4", muxer: muxer)
        #expect((1.9...2.1).contains(ends.pictures))
        #expect((3.9...4.1).contains(ends.sound))
    }

    /// Audio ends at the next block boundary.
    @Test(arguments: [
        "audiotestsrc samplesperbuffer=44100", "audiotestsrc samplesperbuffer=441",
        "audiotestsrc is-live=true",
    ])
    func endlessSourceStopsWithTheCapture(sound: String) async throws {
        let ends = try await ends(sound: sound)
        #expect((1.9...2.1).contains(ends.pictures))
        #expect((1.9...2.1).contains(ends.sound))
    }

    @Test func limitEndsAnEndlessSource() async throws {
        let ends = try await ends(
            sound: "audiotestsrc samplesperbuffer=4410 num-buffers=40", frames: 25)
        #expect((0.9...1.1).contains(ends.pictures))
        #expect((0.9...1.2).contains(ends.sound))
    }
}
