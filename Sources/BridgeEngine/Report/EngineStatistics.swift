public import MediaCore

/// The statistics of an engine. Counts start when the track, the renderer or the engine was
/// created; rates cover the time since the previous statistics.
///
/// No count is lost: removed objects are in ``gone``, and after ``MediaEngine/shutDown()`` the
/// statistics stay as they were at that time.
public struct EngineStatistics: Sendable {
    /// One local track, over all its successive sources, or over everything that was pushed to it.
    public struct Track: FrameBalanced {
        /// Frames and encoded units that arrived, fallback frames, and the units in ``decoding``, and
        /// their outcomes: units that were passed on, and pictures that passed the capture
        /// processors.
        public var balance = FrameBalance()
        /// Encoded units that were decoded because a receiver wanted their pictures. Pictures count
        /// as delivered.
        public var decoding = FrameBalance()
        /// Frames to encode for the channel. Encoded units count as delivered.
        public var encoding = FrameBalance()
        /// The frames at each processing point, and their outcomes there.
        public var processing: [ProcessingPoint: FrameBalance] = [:]
        /// Frames and encoded units that sources delivered.
        public var delivered = 0
        /// Frames in ``delivered`` that were accepted.
        public var accepted = 0
        /// Refused frames of sources, frames that the processors of all points dropped, and units
        /// that produced no picture although a receiver wanted it.
        public var dropped = DropCounts()
        /// Frames per second since the previous statistics.
        public var frameRate = 0.0
        /// The size of the latest frame; `nil` before the first one.
        public var size: VideoSize?
        /// Bits per second of the encoded units; `nil` before the first one.
        public var bitRate: Int?
        /// Fallback frames, which were sent because the source delivered none.
        public var fallbackFrames = 0
    }
    /// One renderer.
    public struct Renderer: FrameBalanced {
        /// Frames that were offered and rendered, and the causes of the drops. A sink with its own
        /// queue reports how many frames were rendered (``FrameBalanceReporting``).
        public var balance = FrameBalance()
        /// Frames offered to the renderer.
        public var offered: Int { balance.offered }
        /// Frames that were rendered.
        public var rendered: Int { balance.delivered }
        /// Dropped frames by cause.
        public var dropped: DropCounts { balance.dropped }
        /// Frames that are still queued, before the renderer or inside it.
        public var waiting: Int { balance.waiting }
        /// Rendered frames per second since the previous statistics.
        public var frameRate = 0.0
        /// The median latency of live frames, from capture until the renderer has returned; `nil`
        /// before the first live frame.
        public var latencyP50: Duration?
        /// The 99th percentile of the latency; otherwise as ``latencyP50``.
        public var latencyP99: Duration?
        /// The number of times that no frame was rendered for longer than half a second. Pauses of
        /// the sender do not count: an absent user, an unpublished track, or a source that has
        /// ended.
        public var freezes = 0
        /// The total duration of all ``freezes``.
        public var frozen = Duration.zero
    }
    /// One track of a user in the channel.
    public struct Remote: FrameBalanced {
        /// Frames and encoded units received; each is offered to every renderer.
        public var received = 0
        /// Encoded units that were decoded because a renderer wanted their pictures. Pictures count
        /// as delivered.
        public var decoding = FrameBalance()
        /// The received frames as a balance: all count as delivered.
        public var balance: FrameBalance { FrameBalance(offered: received, delivered: received) }
        /// Received frames per second since the previous statistics.
        public var frameRate = 0.0
        /// The size of the latest frame; `nil` before the first one.
        public var size: VideoSize?
        /// The playout delay of frames beyond their latency (``LiveTiming/playoutDelay``).
        public var playoutDelay = Duration.zero
    }

    /// The engine's own video tracks.
    public var local: [TrackID: Track] = [:]
    /// The video tracks of other users from which frames were received.
    public var remote: [UserID: [TrackID: Remote]] = [:]
    /// The renderers by id.
    public var renderers: [RendererID: Renderer] = [:]
    /// Video frames for the channel since the engine was created: how many were sent, and the
    /// causes of the drops.
    public var outgoing = FrameBalance()
    /// Video frames that were sent to the channel.
    public var sent: Int { outgoing.delivered }
    /// Video frames that were dropped before the channel, by cause.
    public var unsent: DropCounts { outgoing.dropped }

    /// The engine's own audio; `nil` if audio is off and no source has delivered any yet.
    public var localAudio: LocalAudio?
    /// The audio of the other users from which frames were received.
    public var remoteAudio: [UserID: RemoteAudio] = [:]
    /// The audio sinks by id.
    public var audioSinks: [AudioSinkID: AudioOutput] = [:]
    /// The mix of all users.
    public var playback = Playback()
    /// Audio frames for the channel, like ``outgoing``.
    public var outgoingAudio = FrameBalance()
    /// Audio frames that were sent to the channel.
    public var sentAudio: Int { outgoingAudio.delivered }
    /// Audio frames that were dropped before the channel, by cause.
    public var unsentAudio: DropCounts { outgoingAudio.dropped }
    /// What the channel itself counts, by user; `nil` outside a channel.
    public var channel: ChannelStatistics?
    /// The counts of removed objects and of users that have left.
    public var gone = Gone()

    /// Creates statistics with all counts zero.
    public init() {}

    /// Counts of objects that no longer exist.
    public struct Gone: Sendable {
        /// Custom tracks that were destroyed.
        public var tracks = Departed<TrackID, Track>()
        /// Renderers that were removed.
        public var renderers = Departed<RendererID, Renderer>()
        /// Audio sinks that were removed.
        public var audioSinks = Departed<AudioSinkID, AudioOutput>()
        /// Video tracks that were unpublished, or whose user has left.
        public var remote = Departed<RemoteTrack, Remote>()
        /// The audio of users that have left.
        public var remoteAudio = Departed<UserID, RemoteAudio>()
    }

    /// A video track of a user.
    public struct RemoteTrack: Hashable, Sendable {
        /// The user.
        public var user: UserID
        /// The user's track.
        public var track: TrackID
    }

    /// The sum over all current and removed renderers.
    public var allRenderers: FrameBalance {
        renderers.values.reduce(gone.renderers.balance) { $0 + $1.balance }
    }
}
