public import MediaCore

/// What an engine has done: counts since the track, the renderer or the engine was made, rates since the
/// statistics before.
///
/// Nothing is forgotten: what was removed is in ``gone``, and after ``MediaEngine/shutDown()`` the statistics
/// stay as they were at its end.
public struct EngineStatistics: Sendable {
    /// One way of frames in: the sources that a track had one after the other, or what was pushed to it.
    public struct Track: FrameBalanced {
        /// Frames that came, those that were repeated and encoded units without a picture included, and what
        /// became of them up to the processors behind capture.
        public var balance = FrameBalance()
        /// What came to the processors of each point, and what became of it there.
        public var processing: [ProcessingPoint: FrameBalance] = [:]
        /// Frames that sources delivered, and those of them that were taken.
        public var delivered = 0
        public var accepted = 0
        /// Of sources, and by the processors of all points.
        public var dropped = DropCounts()
        /// Frames a second, over the time since the statistics before.
        public var frameRate = 0.0
        /// `nil` before the first frame.
        public var size: VideoSize?
        /// Bits a second of what was pushed encoded; `nil` where nothing was.
        public var bitRate: Int?
        /// Frames that were repeated because none came.
        public var fallbackFrames = 0
    }
    /// One way of frames out.
    public struct Renderer: FrameBalanced {
        /// Frames that were offered, rendered, and what became of the others. A sink with a queue of its own
        /// says what of it was rendered (``FrameBalanceReporting``).
        public var balance = FrameBalance()
        public var offered: Int { balance.offered }
        public var rendered: Int { balance.delivered }
        public var dropped: DropCounts { balance.dropped }
        public var waiting: Int { balance.waiting }
        public var frameRate = 0.0
        /// From capture until the renderer was done with the frame; of live frames.
        public var latencyP50: Duration?
        public var latencyP99: Duration?
        /// Times that no frame was rendered for longer than half a second, and how long in all. While nobody
        /// sends, nothing freezes: a user who is away, a track that is not published, a source that has
        /// ended.
        public var freezes = 0
        public var frozen = Duration.zero
    }
    /// One user's track that comes from the channel.
    public struct Remote: FrameBalanced {
        /// Frames that came; each is offered to every renderer at once.
        public var received = 0
        public var balance: FrameBalance { FrameBalance(offered: received, delivered: received) }
        public var frameRate = 0.0
        public var size: VideoSize?
    }

    public var local: [TrackID: Track] = [:]
    public var remote: [UserID: [TrackID: Remote]] = [:]
    public var renderers: [RendererID: Renderer] = [:]
    /// Frames for the channel: those that went out, and what became of the others, since the engine was
    /// made.
    public var outgoing = FrameBalance()
    public var sent: Int { outgoing.delivered }
    public var unsent: DropCounts { outgoing.dropped }

    /// `nil` where the engine has no sound of its own.
    public var localAudio: LocalAudio?
    public var remoteAudio: [UserID: RemoteAudio] = [:]
    public var audioSinks: [AudioSinkID: AudioOutput] = [:]
    public var playback = Playback()
    /// Pieces of sound for the channel, as ``outgoing``.
    public var outgoingAudio = FrameBalance()
    public var sentAudio: Int { outgoingAudio.delivered }
    public var unsentAudio: DropCounts { outgoingAudio.dropped }
    /// What was removed, or left.
    public var gone = Gone()

    public init() {}

    /// Counts of what is there no more.
    public struct Gone: Sendable {
        public var tracks = Departed<TrackID, Track>()
        public var renderers = Departed<RendererID, Renderer>()
        public var audioSinks = Departed<AudioSinkID, AudioOutput>()
        public var remote = Departed<RemoteTrack, Remote>()
        public var remoteAudio = Departed<UserID, RemoteAudio>()
    }

    /// A track of a user.
    public struct RemoteTrack: Hashable, Sendable {
        public var user: UserID
        public var track: TrackID
    }

    /// All renderers that there are and were.
    public var allRenderers: FrameBalance {
        renderers.values.reduce(gone.renderers.balance) { $0 + $1.balance }
    }
}
