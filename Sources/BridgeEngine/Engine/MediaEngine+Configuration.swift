internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// The configuration of an engine; the defaults suit a call.
    public struct Configuration: Sendable {
        /// The pace at which an engine runs.
        public enum Pace: Sendable {
            /// Frames of a file are held until they are due; slow receivers lose their oldest
            /// frames.
            case realTime
            /// No frame is held and none is lost: a source waits for the slowest receiver. Two runs
            /// over the same input give the same output.
            case asFastAsPossible
        }
        /// The video that is sent while a source is silent.
        public enum Fallback: Sendable {
            /// Nothing.
            case nothing
            /// The last frame, repeated.
            case lastPicture
            /// A still picture.
            case still(PixelBuffer)
        }
        /// The pace of the engine. Default ``Pace/realTime``.
        public var pace = Pace.realTime
        /// The minimum latency from capture to display, so that sources of different latency can
        /// replace each other without a jump. Default 50 ms: enough for a camera.
        public var latency = Duration.milliseconds(50)
        /// The deadline for one call of the program's own code. Default 5 s.
        public var callTimeout = Duration.seconds(5).asDefaultDeadline
        /// The deadline for the channel's answer to joining. Default 10 s.
        public var joinTimeout = Duration.seconds(10).asDefaultDeadline
        /// The deadline for the first frame of a source that replaces another, or of a snapshot.
        /// Default 5 s.
        public var firstFrameTimeout = Duration.seconds(5).asDefaultDeadline
        /// How long a source may be silent, or a renderer or processor busy, before an event
        /// reports it. Default 4 s.
        public var stallTimeout = Duration.seconds(4)
        /// The video that is sent while a source is silent. Default ``Fallback/nothing``.
        public var fallback = Fallback.nothing
        /// Whether the engine has video. Default true. If false, no video source is started, not
        /// even the default one.
        public var hasVideo = true
        /// How gaps and overlaps in the engine's own audio are corrected.
        public var audioContinuity = AudioContinuity.Configuration()
        /// How long the audio of other users waits before it is mixed.
        public var jitterBuffer = JitterBuffer.Configuration()
        /// The policy for restarting a source that failed; `nil`, the default, to never restart it.
        public var restart: RestartPolicy?
        /// The interval between ``EngineEvent/statistics(_:)`` events. Default 2 s; `nil` for none.
        public var statisticsInterval: Duration? = .seconds(2)

        /// Creates a configuration with the default values.
        public init() {}

        /// How long a source waits for a slow receiver. It is longer if no frame may be lost, so
        /// that a slow encoder is not taken for one that hangs.
        var queueTimeout: Duration { stallTimeout * (pace == .asFastAsPossible ? 10 : 1) }

        /// Whether tracks keep the last frame that was passed on, to repeat it while a source is
        /// silent.
        var keepsLastFrame: Bool {
            guard case .lastPicture = fallback else { return false }
            return pace == .realTime
        }
    }
}
