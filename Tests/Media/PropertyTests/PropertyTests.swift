import TestSupport
import Testing

/// Captures that change mid-stream: a sample of each kind of change, and cases that failed once.
/// `make properties` tries thousands.
@Suite(.hangGuard)
struct PropertyTests {
    @Test func midStreamChangesAreRecordedCompletely() async throws {
        let result = try await Tool.run(
            Tool.built("Properties"), ["--sample", "--seed", "1"])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    /// Streams that start far apart, and equal timestamps. Each case once lost a stream, a frame or
    /// the file.
    @Test(arguments: [
        "record webm pictures=37 sound clock@35=4",
        "record mkv pictures=37 sound clock@35=4",
        "record mp4 pictures=11 sound soundBegins@7=1.5 interlace@9=mixed",
        "push mp4 pictures=7 sound live picturesBegin@1=3",
        "record ts pictures=40 sound picturesBegin@1=3",
        "record mkv pictures=40 sound picturesBegin@1=11",
        "record mp4 pictures=300 sound soundBegins@1=11",
        "engineRecord mkv pictures=40 sound soundBegins@1=11",
        "push mp4 pictures=13 same@11=yes",
        "push mp4 pictures=39 same@9=yes same@10=yes same@11=yes same@35=yes same@38=yes",
    ])
    func formerlyLostMediaIsRecordedCompletely(capture: String) async throws {
        let result = try await Tool.run(
            Tool.built("Properties"), ["--case", capture])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test func invalidCaseIsAUsageError() async throws {
        let result = try await Tool.run(Tool.built("Properties"), ["--case", "push avi"])
        #expect(result.status == 64)
    }
}
