import TestSupport
import Testing

extension ExampleTests {
    /// Two captures in one picture.
    @Suite(.hangGuard) struct PictureInPictureTests {
        @Test func insetIsInTheCornerOfTheFrame() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("both.mkv")
                _ = try await Example.run(
                    "picture-in-picture", path, "--frames", "30", "--capture",
                    "videotestsrc is-live=true pattern=white", "--inset",
                    "videotestsrc is-live=true pattern=black")
                let video = try await MediaProbe(of: path).video
                #expect(video?.frames == 30 && video?.width == 640 && video?.height == 360)
                // Fields of 16x15 pixels: the inset covers those from 1 to 10 and from 2 to 6 completely.
                let last = try #require(
                    try await MediaProbe.luma(of: path, columns: 40, rows: 24).last)
                for (index, luma) in last.enumerated() {
                    let (x, y) = (index % 40, index / 40)
                    if (1...10).contains(x), (2...6).contains(y) {
                        #expect(luma < 30, "\(x), \(y)")
                    } else if !(0...11).contains(x) || !(1...7).contains(y) {
                        #expect(luma > 220, "\(x), \(y)")
                    }
                }
            }
        }
    }
}
