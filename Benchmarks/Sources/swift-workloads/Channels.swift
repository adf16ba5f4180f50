import MediaBridge
import MediaBridgeAgora
import MediaBridgeTesting
import Synchronization

/// One user pushes frames at 30 fps; each of the others renders them.
func runChannel(users: Int, frames: Int) async throws {
    let network = LoopbackNetwork()
    let sender = MediaEngine(transport: network)
    try await sender.setExternalVideoSource(.pixelBuffers)
    var receivers: [MediaEngine] = []
    for index in 1..<users {
        let receiver = MediaEngine(transport: network)
        try await receiver.addVideoSink(Counting(), to: .remote("sender"))
        try await receiver.joinChannel("bench", userID: UserID("receiver\(index)"), role: .audience)
        receivers.append(receiver)
    }
    try await sender.joinChannel("bench", userID: "sender")
    let picture = try PixelBuffer(.i420, size: VideoSize(width: 1920, height: 1080))
    var next = ContinuousClock.now
    for _ in 0..<frames {
        try await Task.sleep(until: next, clock: .continuous)
        next += .seconds(1) / 30
        let frame = ExternalVideoFrame()
        frame.format = .pixelBuffer
        frame.textureBuf = picture
        sender.pushExternalVideoFrame(frame)
    }
    // A leave discards the frames in transit, and a receiver on a busy machine drops its oldest frames.
    let enough = frames * 9 / 10
    let deadline = ContinuousClock.now + .seconds(5)
    for receiver in receivers {
        while await receiver.statistics.videoSinks.values.allSatisfy({
            $0.balance.delivered < enough
        }),
            ContinuousClock.now < deadline
        {
            try await Task.sleep(for: .milliseconds(10))
        }
    }
    await sender.shutDown()
    for receiver in receivers { await receiver.shutDown() }
    let count = rendered.load(ordering: .relaxed)
    guard count >= (users - 1) * enough else { fatalError("\(count) frames were rendered") }
}
