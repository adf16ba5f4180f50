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

/// Records whether any audio was rendered.
private final class Listener: AudioSink {
    private var samples = 0
    func render(_ frame: AudioFrame) { samples += frame.sampleCount }
    func shouldStop() { heard.add(samples, ordering: .relaxed) }
}

private let heard = Atomic<Int>(0)

/// All users but one push 48 kHz tones in steps of 10 ms; the last one renders their mix.
func runMix(users: Int, seconds: Int) async throws {
    let network = LoopbackNetwork()
    var configuration = MediaEngine.Configuration()
    configuration.hasVideo = false
    let listener = MediaEngine(configuration: configuration, transport: network)
    try await listener.enableAudio()
    try await listener.setPlaybackAudioSink(Listener())
    try await listener.joinChannel("bench", userID: "listener", role: .audience)
    var speakers: [MediaEngine] = []
    for index in 0..<users {
        let speaker = MediaEngine(configuration: configuration, transport: network)
        try await speaker.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await speaker.joinChannel("bench", userID: UserID("user\(index)"))
        speakers.append(speaker)
    }
    let tone = (0..<480).map { Int16(1000 * ($0 % 48) / 48) }
    var next = ContinuousClock.now
    for step in 0..<seconds * 100 {
        try await Task.sleep(until: next, clock: .continuous)
        next += .milliseconds(10)
        let time = MediaTime(value: Int64(step), timescale: 100)
        for speaker in speakers { speaker.pushExternalAudioFrame(tone, timestamp: time) }
    }
    for speaker in speakers { await speaker.shutDown() }
    await listener.shutDown()
    let count = heard.load(ordering: .relaxed)
    precondition(count > seconds * 48000 * 9 / 10, "\(count) samples were heard")
}
