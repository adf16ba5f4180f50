import TestSupport
import Testing

/// Guarantees for recordings, most of them tried once. `make faults` tries everything, and repeats
/// cases that depend on chance.
@Suite(
    .hangGuard, .enabled(if: !Sanitizer.isActive, "it measures losses"))
struct FaultTests {
    @Test(arguments: [
        "kill-mkv", "kill-mp4", "kill-webm", "kill-ts", "kill-mkv-copy", "kill-mp4-copy",
        "kill-webm-copy", "kill-ts-copy", "endings-mkv-copy", "disk-nearly-full-mkv",
        "disk-nearly-full-mp4-copy", "disk-full-ts-copy", "size-limit", "size-limit-copy",
        "fifo-stalled", "fifo-waiting", "fifo-waiting-copy", "format-change", "rate-change",
        "disk-too-full", "pre-roll-alone", "disk-ring", "sound-back-copy", "camera-lost-copy",
        "power-mkv", "power-mp4", "power-webm-copy", "power-ts-copy", "power-finish",
        "kill-mp4-finish", "clocks",
        "power-directories", "flush-fails", "flush-slow", "other-hands", "other-hands-copy",
    ])
    func recordingGuaranteeHolds(promise: String) async throws {
        let result = try await Tool.run(
            Tool.built("FaultSuite"), ["--quick", "--only", promise])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test func unknownPromiseIsAUsageError() async throws {
        let result = try await Tool.run(Tool.built("FaultSuite"), ["--only", "none"])
        #expect(result.status == 64)
    }
}
