internal import MediaBasics
internal import MediaCore

/// The engine's audio state.
struct AudioState {
    var sourceNumber = 0
    var sinkNumber = 0
    /// Whether the engine's own audio is on.
    var isEnabled = false
    /// Whether the program has requested the microphone, which is never opened otherwise.
    var wantsMicrophone = false
    /// The source that the program has set; `nil` for the microphone.
    var chosen: AudioSourceHost?
    /// The push source; `nil` if pushing is not enabled.
    var external: AudioSourceHost?
    /// The running source; `nil` if none is running.
    var running: AudioSourceHost?
    /// The source that is to take over with its first frame, and the operation that waits for it;
    /// `nil` if no operation waits.
    var awaiting: (port: AudioSourcePort, once: Once<Bool>)?
    /// Whether the source has ended. If so, it is not reported as stalled.
    var hasEnded = false
    var watch = StallWatch()
    var sinks: [AudioSinkID: SinkEntry<AudioMedia>] = [:]
    var publisher: AudioPublisher?
    var encoder = AudioEncoderConfiguration()
    /// The timer that mixes for the playback sinks; `nil` if nothing is mixed for sinks.
    var playback: Heartbeat?
    /// The format of pulled audio; `nil` if pulling is not enabled.
    var pulled: AudioFormat?
}

/// The audio stream that a sink receives.
public enum AudioStreamID: Hashable, Sendable {
    /// The engine's own audio.
    case local
    /// The audio of one user in the channel.
    case remote(UserID)
    /// The mix of all users in the channel.
    case playback

    var isLocal: Bool { self == .local }
}
