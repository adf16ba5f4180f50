internal import MediaBasics
public import MediaCore

extension MediaEngine {
    /// How an engine behaves; the defaults suit a call.
    public struct Configuration: Sendable {
        /// Whether the engine keeps time.
        public enum Pace: Sendable {
            /// Frames of a file are held until they are due; slow receivers lose their oldest frames.
            case realTime
            /// Nothing is held and nothing lost: a source waits for the slowest receiver. Two runs over
            /// the same input give the same output.
            case asFastAsPossible
        }
        /// What is shown while a source is silent.
        public enum Fallback: Sendable {
            case nothing
            /// The last picture, again and again.
            case lastPicture
            case still(PixelBuffer)
        }
        /// How a source that failed is started again.
        public struct Restart: Sendable {
            /// Before the first attempt; doubled for each that fails. Default 0.5 s.
            public var delay = Duration.milliseconds(500)
            /// Default 30 s.
            public var longestDelay = Duration.seconds(30)
            /// In a row; `nil`: for ever.
            public var attempts: Int?
            /// How long a source must deliver until it has come back, and its attempts count from the first
            /// again. Default 10 s.
            public var recoveryTime = Duration.seconds(10)
            public init() {}
        }
        /// Default ``Pace/realTime``.
        public var pace = Pace.realTime
        /// The least time from capture to display, so that sources of different latency can follow each
        /// other without a jump. Default 50 ms: enough for a camera.
        public var latency = Duration.milliseconds(50)
        /// How long one call of the program's own code may take. Default 5 s.
        public var callDeadline = Duration.seconds(5).asDefaultDeadline
        /// How long a source that takes over, or a stream of which a snapshot is wanted, may take to its
        /// first frame. Default 5 s.
        public var firstFrameDeadline = Duration.seconds(5).asDefaultDeadline
        /// How long a source, a renderer or a processor may be silent or busy before an event says so.
        /// Default 4 s.
        public var stallLimit = Duration.seconds(4)
        /// What is shown while a source is silent. Default ``Fallback/nothing``.
        public var fallback = Fallback.nothing
        /// Whether there are pictures; default true. Without them no source of pictures is started, not even
        /// the default one.
        public var hasVideo = true
        /// How gaps and overlaps in the engine's own sound are corrected.
        public var audioContinuity = AudioContinuity.Configuration()
        /// How long the sound of others waits before it is mixed.
        public var jitterBuffer = JitterBuffer.Configuration()
        /// Whether, and how, a source that failed is started again. Default: not.
        public var restart: Restart?
        /// How often an event tells the statistics. Default 2 s; `nil` for never.
        public var statisticsInterval: Duration? = .seconds(2)

        public init() {}

        /// How long a source waits for a receiver that is slow. Where nothing may be lost a slow encoder is
        /// none that hangs.
        var patience: Duration { stallLimit * (pace == .asFastAsPossible ? 10 : 1) }

        /// Whether tracks keep the frame that went out last, to show it while a source is silent.
        var keepsLastFrame: Bool {
            guard case .lastPicture = fallback else { return false }
            return pace == .realTime
        }
    }
}
