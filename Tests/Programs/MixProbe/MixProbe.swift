import BridgeEngine
import MediaBridge
import MediaCore
import Synchronization

/// One user of a channel hears all others: `MixProbe USERS SECONDS`. The benchmarks measure it.
///
/// The channel passes frames on in the caller's thread, so that only the mix is measured.
@main
struct MixProbe {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let users = Int(words[1]), let seconds = Int(words[2]) else {
            fatalError("MixProbe USERS SECONDS")
        }
        var configuration = MediaEngine.Configuration()
        configuration.hasVideo = false
        let (room, listener) = (Room(), Listener())
        let engine = MediaEngine(
            configuration: configuration, backend: GStreamerBackend(), transport: room)
        try await engine.enableAudio()
        try await engine.addAudioSink(listener, to: .playback)
        try await engine.joinChannel("bench", userID: "listener", role: .audience)
        let speakers = (0..<users).map { UserID("user\($0)") }
        for user in speakers {
            room.receiver.handle(.joined(user))
            room.receiver.handle(.published(.audio, by: user))
        }
        try await speak(speakers, for: seconds, to: room.receiver)
        await engine.shutDown()
        let heard = listener.samples.load(ordering: .relaxed)
        precondition(heard > seconds * 48000 * 9 / 10, "\(heard) samples were heard")
    }

    /// Sends a 48 kHz tone of each user in steps of 10 ms.
    private static func speak(
        _ users: [UserID], for seconds: Int, to receiver: any ChannelReceiver
    ) async throws {
        let tone = (0..<480).map { Int16(1000 * ($0 % 48) / 48) }
        let live = LiveTiming(
            clockOrigin: GStreamer.clockTime, latency: MediaTime(value: 1, timescale: 100))
        var next = ContinuousClock.now
        for step in 0..<seconds * 100 {
            try await Task.sleep(until: next, clock: .continuous)
            next += .milliseconds(10)
            for user in users {
                var frame = try AudioFrame(
                    copying: tone, sampleRate: 48000, channels: 1,
                    runningTime: MediaTime(value: Int64(step), timescale: 100))
                frame.liveTiming = live
                receiver.receive(.samples(frame), .audio, from: user)
            }
        }
    }
}

/// Counts the samples that are rendered.
private final class Listener: AudioSink, Sendable {
    let samples = Atomic<Int>(0)

    func shouldStart() {}
    func shouldStop() {}
    func render(_ frame: AudioFrame) { samples.add(frame.sampleCount, ordering: .relaxed) }
}

private final class Room: ChannelTransport {
    private final class Membership: ChannelMembership {
        var statistics: ChannelStatistics { ChannelStatistics() }

        func publish(
            _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
        ) -> any ChannelPublication { Publication() }
        func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID) {}
        func requestKeyFrame(_ track: TrackID, of user: UserID) {}
        func send(_ message: ChannelMessage, to user: UserID?) {}
        func leave() async {}
    }
    private final class Publication: ChannelPublication {
        func send(_ media: consuming ChannelMedia) -> FrameDisposition { .accepted }
        func setMuted(_ isMuted: Bool) {}
        func end() {}
    }
    private let joined = Mutex<(any ChannelReceiver)?>(nil)

    func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        joined.withLock { $0 = receiver }
        return Membership()
    }

    var receiver: any ChannelReceiver {
        guard let receiver = joined.withLock({ $0 }) else { fatalError("nobody joined") }
        return receiver
    }
}
