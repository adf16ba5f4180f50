import MediaBridge
import Synchronization

/// One user pushes frames at 30 fps; each of the others renders them.
func runChannel(users: Int, frames: Int) async throws {
    let network = LoopbackNetwork()
    let sender = MediaEngine(transport: network)
    try await sender.setExternalVideoSource(enabled: true, useTexture: true)
    var receivers: [MediaEngine] = []
    for index in 1..<users {
        let receiver = MediaEngine(transport: network)
        try await receiver.addVideoRenderer(Counting(), to: .remote("sender"))
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
        while await receiver.statistics.renderers.values.allSatisfy({ $0.rendered < enough }),
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

/// A transport that forwards frames on the caller's thread, so that only the mix is measured.
private final class Room: ChannelTransport {
    private final class Membership: ChannelMembership {
        var statistics: ChannelStatistics { ChannelStatistics() }
        func publish(
            _ track: TrackID, feedback: any PublicationFeedback
        ) -> any VideoPublication { Publication() }
        func leave() async {}
    }
    private final class Publication: VideoPublication {
        func send(_ frame: consuming VideoFrame) -> FrameDisposition { .accepted }
        func end() {}
    }
    private let listener = Mutex<(any ChannelReceiver)?>(nil)

    func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        listener.withLock { $0 = receiver }
        return Membership()
    }

    var receiver: any ChannelReceiver {
        guard let receiver = listener.withLock({ $0 }) else { fatalError("nobody joined") }
        return receiver
    }
}

/// Records whether any audio was rendered.
private final class Listener: AudioSink {
    private var samples = 0
    func render(_ frame: AudioFrame) { samples += frame.sampleCount }
    func shouldStop() { heard.add(samples, ordering: .relaxed) }
}

private let heard = Atomic<Int>(0)

/// All users but one send 48 kHz tones in steps of 10 ms; the last one renders their mix.
func runMix(users: Int, seconds: Int) async throws {
    let room = Room()
    var configuration = MediaEngine.Configuration()
    configuration.hasVideo = false
    let engine = MediaEngine(configuration: configuration, transport: room)
    try await engine.enableAudio()
    try await engine.setPlaybackAudioSink(Listener())
    try await engine.joinChannel("bench", userID: "listener", role: .audience)
    let receiver = room.receiver
    let speakers = (0..<users).map { UserID("user\($0)") }
    for user in speakers {
        receiver.userJoined(user)
        receiver.audioPublished(by: user)
    }
    let tone = (0..<480).map { Int16(1000 * ($0 % 48) / 48) }
    let origin = SharedClock.time
    let live = LiveTiming(clockOrigin: origin, latency: MediaTime(value: 1, timescale: 100))
    var next = ContinuousClock.now
    for step in 0..<seconds * 100 {
        try await Task.sleep(until: next, clock: .continuous)
        next += .milliseconds(10)
        for user in speakers {
            var frame = try AudioFrame(
                copying: tone, sampleRate: 48000, channels: 1,
                runningTime: MediaTime(value: Int64(step), timescale: 100))
            frame.liveTiming = live
            receiver.receive(frame, from: user)
        }
    }
    await engine.shutDown()
    let count = heard.load(ordering: .relaxed)
    precondition(count > seconds * 48000 * 9 / 10, "\(count) samples were heard")
}
