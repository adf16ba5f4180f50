import MediaBridge
import Synchronization

/// Keeps the compiler from removing a closure's read.
private let seen = Atomic<Int>(0)

@Sendable func see(_ frame: VideoFrame) {
    seen.add(frame.width &+ Int(frame.runningTime?.nanoseconds ?? 0), ordering: .relaxed)
}

@Sendable func look(_ frame: VideoFrame) throws {
    let pixel = try frame.withPlanes { $0[0].row(0)[0] }
    seen.add(Int(pixel), ordering: .relaxed)
}

func bridge(
    _ capture: String, _ output: String, _ body: @escaping @Sendable (VideoFrame) throws -> Void
) async throws {
    try await Bridge.run(capture: capture, outputs: [output], eachFrame: body)
}

func readFrames(_ capture: String) async throws {
    for try await frame in try PipelineVideoSource(capture).frames() { see(frame) }
}
