// The engine as a program uses it, for engine-bench.
//
//   engine-workload latency SINKS FRAMES   pushes 1080p pictures at 30 a second to SINKS renderers of the
//                                          program's own; prints each one's times from push to render,
//                                          in nanoseconds
//   engine-workload fanout SINKS FRAMES    as fast as it goes: one capture to SINKS renderers
import MediaBridge
import Synchronization

let words = CommandLine.arguments
guard words.count == 4, let sinks = Int(words[2]), let frames = Int(words[3]) else {
    fatalError("engine-workload latency|fanout SINKS FRAMES")
}

/// What all renderers of a run saw.
final class Results: Sendable {
    let times = Mutex<[Int64]>([])
    let rendered = Atomic<Int>(0)
}
let results = Results()

/// Notes how old each frame is.
final class Stopwatch: VideoSink {
    private let origin: MediaTime
    private var times: [Int64] = []
    init(origin: MediaTime) { self.origin = origin }
    func render(_ frame: VideoFrame) {
        let now = MediaTime(SharedClock.now)
        guard let pushed = frame.metadata["pushed"].flatMap(Int64.init) else { return }
        times.append(now.nanoseconds - pushed)
    }
    func shouldStop() { results.times.withLock { $0 += times } }
}

final class Counting: VideoSink {
    private var count = 0
    func render(_ frame: VideoFrame) { count += 1 }
    func shouldStop() { results.rendered.add(count, ordering: .relaxed) }
}

var configuration = MediaEngine.Configuration()
switch words[1] {
case "latency":
    let engine = MediaEngine(configuration: configuration)
    try await engine.setExternalVideoSource(enabled: true, useTexture: true)
    for _ in 0..<sinks {
        try await engine.addVideoRenderer(Stopwatch(origin: .zero), to: .local())
    }
    try await engine.startPreview()
    let picture = try PixelBuffer(.i420, size: VideoSize(width: 1920, height: 1080))
    var next = ContinuousClock.now
    for _ in 0..<frames {
        try await Task.sleep(until: next, clock: .continuous)
        next += .nanoseconds(33_333_333)
        let frame = ExternalVideoFrame()
        frame.format = .pixelBuffer
        frame.textureBuf = picture
        frame.metadata["pushed"] = String(MediaTime(SharedClock.now).nanoseconds)
        engine.pushExternalVideoFrame(frame)
    }
    await engine.shutDown()
    let times = results.times.withLock { $0 }
    precondition(times.count == sinks * frames, "\(times.count) of \(sinks * frames) were rendered")
    for time in times { print(time) }
case "fanout":
    configuration.pace = .asFastAsPossible
    let engine = MediaEngine(configuration: configuration)
    let source = try PipelineVideoSource(
        "videotestsrc num-buffers=1 ! "
            + "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1 "
            + "! imagefreeze num-buffers=\(frames)")
    try await engine.setVideoSource(source)
    for _ in 0..<sinks { try await engine.addVideoRenderer(Counting(), to: .local()) }
    let events = engine.events
    try await engine.startPreview()
    for await event in events {
        if case .sourceEnded = event { break }
    }
    await engine.shutDown()
    let rendered = results.rendered.load(ordering: .relaxed)
    precondition(rendered == sinks * frames, "\(rendered) of \(sinks * frames) were rendered")
default:
    fatalError("engine-workload latency|fanout SINKS FRAMES")
}
