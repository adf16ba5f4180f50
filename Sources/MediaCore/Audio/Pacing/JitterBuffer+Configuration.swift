extension JitterBuffer {
    /// The delay of the audio, and how it is changed. The defaults suit a call.
    public struct Configuration: Hashable, Sendable {
        /// The minimum delay, which compensates for uneven arrival. Default 40 ms.
        ///
        /// If an output plays by the clock of the audio, the delay is counted from the capture of the
        /// audio; audio that arrives later than that is delayed as long as necessary. Otherwise it is
        /// counted from the arrival of the earliest audio. Values below zero or above
        /// ``maximumDelay`` are clamped.
        public var targetDelay = Duration.milliseconds(40)
        /// The maximum amount of queued audio. Default 1 s. If more arrives than is played, the
        /// oldest samples are dropped down to ``targetDelay``. A piece that is longer than half of
        /// this maximum, and the piece after it, are still queued completely.
        public var maximumDelay = Duration.seconds(1)
        /// The fraction by which audio is played faster or slower to change the delay, and to
        /// follow a sender whose clock runs at a different rate. Default 0.001: follows a
        /// difference of 1000 ppm, and changes the delay by 1 ms per second. A delay that is more
        /// than 20 ms off changes ten times as fast, but never by more than 0.05. From 0 (never) to
        /// 0.05.
        public var speedChange = 0.001
        /// Whether silence (below -60 dB of full scale) is shortened and lengthened to change the
        /// delay, which is faster and inaudible. Default true.
        public var adjustsSilence = true

        /// Creates the default configuration.
        public init() {}
    }

    /// Counts the samples of each channel by outcome.
    public struct Counts: Hashable, Sendable {
        /// Samples that were added.
        public var received = 0
        /// Samples that were taken for playback.
        public var played = 0
        /// Samples that were not played, by cause.
        public var dropped = Dropped()
        /// Samples that were received and are not due yet.
        public var waiting = 0
        /// Samples of silence that were played because a sample was due and had not arrived.
        public var missing = 0
        /// How often the queue ran empty during playback.
        public var underruns = 0
        /// Samples of silence that were inserted to increase the delay.
        public var lengthenedSilence = 0

        /// Creates counts that are all zero.
        public init() {}

        /// Adds the counts of two buffers.
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

    /// Counts the samples of each channel that were received and not played, by cause.
    public struct Dropped: Hashable, Sendable {
        /// Arrived after the samples that follow them had been played.
        public var late = 0
        /// Had already been received.
        public var duplicate = 0
        /// The oldest samples, dropped because more than ``Configuration/maximumDelay`` was queued.
        public var overflow = 0
        /// Samples of silence that were removed to reduce the delay.
        public var silence = 0
        /// Still queued when playback was abandoned.
        public var abandoned = 0

        /// Creates counts that are all zero.
        public init() {}

        /// The number of samples dropped for all causes together.
        public var total: Int { late + duplicate + overflow + silence + abandoned }

        /// Adds the counts of each cause.
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

    /// What determines when samples are taken.
    package enum Timing: Sendable {
        /// A clock to which the times of the audio refer. Audio that arrives in time is played
        /// exactly ``Configuration/targetDelay`` after its capture, in sync with that of all other
        /// senders.
        case clock
        /// A device that takes the samples it plays, at its own clock's rate.
        case demand
    }
}
