public import MediaCore

/// What an engine has done: counts since the object in question was set, rates since the statistics
/// before.
public struct EngineStatistics: Sendable {
    /// One way of frames in: a source, or a track that is pushed.
    public struct Track: Sendable {
        /// Frames that the source delivered, and what became of those that were not taken.
        public var delivered = 0
        public var accepted = 0
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
    public struct Renderer: Sendable {
        /// Frames that were offered, rendered, and what became of the others.
        public var offered = 0
        public var rendered = 0
        public var dropped = DropCounts()
        public var frameRate = 0.0
        /// From capture until the renderer was done with the frame; of live frames.
        public var latencyP50: Duration?
        public var latencyP99: Duration?
        /// Times that no frame was rendered for longer than half a second, and how long in all.
        public var freezes = 0
        public var frozen = Duration.zero
    }
    /// One user's track that comes from the channel.
    public struct Remote: Sendable {
        public var received = 0
        public var frameRate = 0.0
        public var size: VideoSize?
    }

    public var local: [TrackID: Track] = [:]
    public var remote: [UserID: [TrackID: Remote]] = [:]
    public var renderers: [RendererID: Renderer] = [:]
    /// Frames that went out to the channel, and what became of those that did not, since the engine was
    /// made.
    public var sent = 0
    public var unsent = DropCounts()

    /// `nil` where the engine has no sound of its own.
    public var localAudio: LocalAudio?
    public var remoteAudio: [UserID: RemoteAudio] = [:]
    public var audioSinks: [AudioSinkID: AudioOutput] = [:]
    public var playback = Playback()
    /// Pieces of sound that went out to the channel, and what became of those that did not.
    public var sentAudio = 0
    public var unsentAudio = DropCounts()

    public init() {}
}
