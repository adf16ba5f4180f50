import TestSupport
import Testing

extension ExampleTests {
    /// A recording that depends on a detector of the program.
    @Suite(.hangGuard) struct RecordWhenTests {
        @Test func onlyTheBrightPartIsRecorded() async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("bright.mkv")
                let said = try await Example.run("record-when", path)
                #expect(said.contains("bright from 0:00:02.000000000 to 0:00:04.000000000"))
                let times = try await MediaProbe.videoTimes(of: path)
                // From a key frame at 1 s to 5 s.
                #expect(times.count == 120)
            }
        }
    }
}
