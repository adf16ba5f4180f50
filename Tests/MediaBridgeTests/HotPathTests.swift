import Foundation
import TestSupport
import Testing

/// What one frame costs once the path is warm, as counts that do not depend on the speed of the machine:
/// GStreamer, Swift and the debug build of this package together. A change that costs more has to say so
/// here.
@Suite(.deadline(minutes: 10)) struct HotPathTests {
    @Test(arguments: [
        ("bridge", 2.1), ("each", 3.1), ("look", 6.1),
        // A task that waits for its next frame allocates: how often depends on the machine.
        ("frames", 6), ("push", 30), ("render", 20), ("sound", 10),
    ]) func aFrameCostsNoMoreAllocations(path: String, limit: Double) async throws {
        let few = try await allocations(on: path, frames: 2_000)
        let many = try await allocations(on: path, frames: 12_000)
        // A sanitizer has an allocator of its own.
        guard few >= 0 else { return }
        let each = Double(many - few) / 10_000
        #expect(each <= limit, "\(each) allocations per frame")
    }

    private func allocations(on path: String, frames: Int) async throws -> Int {
        let said = try await Tool.check(
            Tool.built("HotPathProbe"), [path, "\(frames)"],
            environment: ["G_SLICE": "always-malloc"])
        return try #require(Int(said.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    // 3 % above what was counted, or 10 % where tasks wait for each other, how often depends on the
    // machine.
    @Test(arguments: [
        ("bridge", 24_900), ("look", 53_000), ("push", 92_000), ("render", 126_000),
    ]) func aFrameCostsNoMoreInstructions(path: String, limit: Int) async throws {
        // A sanitizer adds instructions of its own.
        guard try await allocations(on: path, frames: 1) >= 0 else { return }
        try await withTemporaryDirectory { directory in
            // Debian's valgrind cannot read the debugging information that Swift writes.
            let program = directory.file("HotPathProbe")
            try await Tool.check(
                "strip", ["--strip-debug", "-o", program, Tool.built("HotPathProbe")])
            let few = try await instructions(of: program, [path, "200"])
            let many = try await instructions(of: program, [path, "1200"])
            let each = (many - few) / 1_000
            #expect(each <= limit, "\(each) instructions per frame")
        }
    }

    private func instructions(of program: String, _ arguments: [String]) async throws -> Int {
        let result = try await Tool.run(
            "valgrind",
            ["--tool=callgrind", "--callgrind-out-file=/dev/null", program] + arguments,
            environment: ["G_SLICE": "always-malloc"], within: .seconds(200))
        let line = result.errors.split(separator: "\n").last { $0.contains("Collected :") }
        let count = line?.split(separator: " ").last.flatMap { Int($0) }
        return try #require(count, "\(result.errors)")
    }
}
