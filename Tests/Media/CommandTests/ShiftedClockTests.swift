import Foundation
import TestSupport
import Testing

/// Tests with a system clock that is changed while the command runs.
///
/// Disabled with a sanitizer, which has to be the first library of a program.
@Suite(.hangGuard, .enabled(if: !Sanitizer.isActive)) struct ShiftedClockTests {
    /// A wait limited by the system clock ends at once if the clock is set forward meanwhile, and
    /// an hour late if it is set back.
    @Test(arguments: [1, -1]) func systemClockChangeDoesNotAffectTheRun(hours: Int) async throws {
        try await withTemporaryDirectory { directory in
            let clock = try await ShiftedClock(in: directory)
            try clock.set(hours: hours)
            let path = directory.file("out.mkv")
            let result = try await Tool.run(
                Tool.gstBridge,
                [
                    "run", "--capture",
                    "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48,framerate=10/1",
                    "--output",
                    "x264enc tune=zerolatency ! matroskamux ! filesink location=\(path)",
                ], environment: clock.environment)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try await MediaProbe(of: path).video?.frames == 20)
        }
    }
}
