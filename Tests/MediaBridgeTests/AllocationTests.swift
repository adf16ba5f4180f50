import TestSupport
import Testing

/// How often memory is allocated for one frame, once the path is warm: GStreamer, Swift and the debug build
/// of this package together. A change that allocates more has to say so here.
@Suite(.deadline(minutes: 3)) struct AllocationTests {
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
            Tool.built("AllocationProbe"), [path, "\(frames)"],
            environment: ["G_SLICE": "always-malloc"])
        return try #require(Int(said.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
