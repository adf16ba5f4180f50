import MediaBridge
import MediaBridgeAgora
import Synchronization

/// The push time of each frame by index, in nanoseconds on the shared clock.
private struct PushTimes: @unchecked Sendable {
    // Each entry is written before its frame is pushed, and read afterwards.
    let times: UnsafeMutableBufferPointer<Int64>
    init(count: Int) { times = .allocate(capacity: count) }
}

/// Records the age of each frame when it is rendered.
private final class Stopwatch: VideoSink {
    private let pushed: PushTimes
    private var ages: [Int64] = []
    init(_ pushed: PushTimes) {
        self.pushed = pushed
        ages.reserveCapacity(pushed.times.count)
    }
    func render(_ frame: VideoFrame) {
        let now = GStreamer.clockTime.nanoseconds
        guard let place = frame.metadata["place"].flatMap({ Int($0) }) else { return }
        ages.append(now - pushed.times[place])
    }
    func shouldStop() { allAges.withLock { $0 += ages } }
}

private let allAges = Mutex<[Int64]>([])

func measureLatency(renderers: Int, frames: Int, rate: Int) async throws {
    let engine = MediaEngine()
    try await engine.setExternalVideoSource(.pixelBuffers)
    let pushed = PushTimes(count: frames)
    for _ in 0..<renderers { try await engine.addVideoSink(Stopwatch(pushed), to: .local()) }
    try await engine.startPreview()
    let picture = try PixelBuffer(.i420, size: VideoSize(width: 1920, height: 1080))
    // Created beforehand, so that it does not slow the pushes.
    let places = (0..<frames).map { ["place": "\($0)"] }
    var next = ContinuousClock.now
    for index in 0..<frames {
        try await Task.sleep(until: next, clock: .continuous)
        next += .seconds(1) / rate
        let frame = ExternalVideoFrame()
        frame.format = .pixelBuffer
        frame.textureBuf = picture
        frame.metadata = places[index]
        pushed.times[index] = GStreamer.clockTime.nanoseconds
        engine.pushExternalVideoFrame(frame)
    }
    await engine.shutDown()
    let ages = allAges.withLock { $0 }
    // A live engine drops frames when the machine stalls.
    precondition(
        ages.count >= renderers * frames * 9 / 10,
        "\(ages.count) of \(renderers * frames) were rendered")
    for age in ages { print(age) }
}
