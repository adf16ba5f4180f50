import MediaBridge
import Synchronization

/// The total of all renderers of a run.
let rendered = Atomic<Int>(0)

/// Counts frames in the format that it requests.
final class Counting: VideoSink {
    private let format: VideoPixelFormat
    private var count = 0
    init(_ format: VideoPixelFormat = .any) { self.format = format }
    func pixelFormat() -> VideoPixelFormat { format }
    func render(_ frame: VideoFrame) { count += 1 }
    func shouldStop() { rendered.add(count, ordering: .relaxed) }
}

func convert(to format: String, _ capture: String) async throws {
    try await runEngine(capture, format: VideoPixelFormat(rawValue: format))
    precondition(rendered.load(ordering: .relaxed) > 0, "nothing was rendered")
}

func fanOut(renderers: Int, frames: Int) async throws {
    try await runEngine(still(frames), renderers: renderers)
    expect(renderers * frames)
}

func runEngines(_ count: Int, frames: Int) async throws {
    try await withThrowingTaskGroup { group in
        for _ in 0..<count {
            group.addTask { try await runEngine(still(frames)) }
        }
        try await group.waitForAll()
    }
    expect(count * frames)
}

private func still(_ frames: Int) -> String {
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=1920,height=1080,framerate=30/1 "
        + "! imagefreeze num-buffers=\(frames)"
}

private func expect(_ count: Int) {
    let rendered = rendered.load(ordering: .relaxed)
    precondition(rendered == count, "\(rendered) of \(count) were rendered")
}

/// Runs a capture to its end, as fast as its renderers accept frames.
private func runEngine(
    _ capture: String, renderers: Int = 1, format: VideoPixelFormat = .any
) async throws {
    var configuration = MediaEngine.Configuration()
    configuration.isRealTime = false
    let engine = MediaEngine(configuration: configuration)
    try await engine.setVideoSource(try PipelineVideoSource(capture))
    for _ in 0..<renderers { try await engine.addVideoSink(Counting(format), to: .local()) }
    let events = engine.events
    try await engine.startPreview()
    for await event in events {
        if case .sourceEnded = event { break }
    }
    await engine.shutDown()
}
