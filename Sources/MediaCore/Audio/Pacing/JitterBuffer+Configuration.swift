extension JitterBuffer {
    /// How long sound waits, and how its wait is changed. The defaults suit a call.
    public struct Configuration: Hashable, Sendable {
        /// How long sound waits at least, so that what comes unevenly is played evenly. Default 40 ms.
        ///
        /// By the clock (``Timing/clock``) it is counted from the moment the sound was captured; what
        /// comes later than that is delayed for as long as it needs. On demand (``Timing/demand``) it is
        /// counted from the arrival of what comes earliest. Below zero, or above ``maximumDelay``, the
        /// nearest of both is taken.
        public var targetDelay = Duration.milliseconds(40)
        /// The most that waits. Default 1 s. Where more comes than is played, the oldest is dropped down
        /// to ``targetDelay``. A piece that is longer than half of it still waits whole, and so does the
        /// one after it.
        public var maximumDelay = Duration.seconds(1)
        /// By how much sound is played faster or slower to change its wait and to follow a sender whose
        /// clock runs differently, as a part of its speed. Default 0.001: a difference of 1000 ppm is
        /// followed, and the wait changes by 1 ms a second. From 0 (never) to 0.05.
        public var speedChange = 0.001
        /// Whether silence (below -60 dB of full scale) is shortened and lengthened to change the wait,
        /// which is quicker and not heard. Default true.
        public var adjustsSilence = true

        public init() {}
    }

    /// What became of the samples; those of each channel.
    ///
    /// At any time ``received`` = ``played`` + ``dropped`` + ``waiting``.
    public struct Counts: Hashable, Sendable {
        public var received = 0
        public var played = 0
        public var dropped = Dropped()
        /// Received, and not due yet.
        public var waiting = 0
        /// Silence where a sample was due and had not come.
        public var missing = 0
        /// Times that nothing was left to play.
        public var underruns = 0
        /// Silence that was made longer, where more wait was needed.
        public var lengthenedSilence = 0

        public init() {}

        public static func + (a: Counts, b: Counts) -> Counts {
            var sum = a
            sum.received += b.received
            sum.played += b.played
            sum.dropped = a.dropped + b.dropped
            sum.waiting += b.waiting
            sum.missing += b.missing
            sum.underruns += b.underruns
            sum.lengthenedSilence += b.lengthenedSilence
            return sum
        }
    }

    /// Samples that were received and not played, by cause.
    public struct Dropped: Hashable, Sendable {
        /// Came when what follows it had been played.
        public var late = 0
        /// Were there already.
        public var duplicate = 0
        /// The oldest of more than ``Configuration/maximumDelay``.
        public var overflow = 0
        /// Of silence that was made shorter, where less wait was needed.
        public var silence = 0
        /// Nobody listened any more.
        public var abandoned = 0

        public init() {}

        public var total: Int { late + duplicate + overflow + silence + abandoned }

        public static func + (a: Dropped, b: Dropped) -> Dropped {
            var sum = a
            sum.late += b.late
            sum.duplicate += b.duplicate
            sum.overflow += b.overflow
            sum.silence += b.silence
            sum.abandoned += b.abandoned
            return sum
        }
    }

    /// Who asks for samples.
    public enum Timing: Sendable {
        /// A clock that the sound's own times refer to: sound that is in time is played exactly
        /// ``Configuration/targetDelay`` after its capture, in step with everybody else's.
        case clock
        /// A device that takes what it plays, by a clock of its own.
        case demand
    }
}
