internal import MediaBasics
internal import MediaCore

/// What an engine knows of its sound, beside its pictures.
struct AudioState {
    var sourceNumber = 0
    var sinkNumber = 0
    /// Whether there is to be sound at all.
    var isEnabled = false
    /// Whether the program has asked for the microphone: it is never opened otherwise.
    var wantsMicrophone = false
    /// What the program set as its source; `nil` for the microphone.
    var chosen: AudioSourceHost?
    /// What is pushed, while that is enabled.
    var external: AudioSourceHost?
    /// The source that runs; `nil` while none does.
    var running: AudioSourceHost?
    /// A source that has ended is not stalled.
    var hasEnded = false
    var watch = StallWatch()
    var sinks: [AudioSinkID: AudioSinkEntry] = [:]
    var publisher: AudioPublisher?
    /// Mixes for the sinks of the playback.
    var playback: Heartbeat?
    /// What is pulled; `nil` while that is not enabled.
    var pulled: AudioFormat?
}

/// Where a sink gets its sound from.
public enum AudioStreamID: Hashable, Sendable {
    /// The engine's own.
    case local
    /// A user's in the channel.
    case remote(UserID)
    /// All users of the channel, mixed.
    case playback

    var isLocal: Bool { self == .local }
}

/// A sink of sound and what it hears.
struct AudioSinkEntry {
    let host: AudioSinkHost
    let stream: AudioStreamID
    /// Set by one of the `set…Sink` calls, which replace it.
    let isMain: Bool
}
