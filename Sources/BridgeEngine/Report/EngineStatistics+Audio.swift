public import MediaCore

extension EngineStatistics {
    /// The engine's own sound. Samples are those of each channel.
    public struct LocalAudio: Sendable {
        /// Frames that sources delivered, those that were taken, and what became of the others.
        public var balance = FrameBalance()
        public var delivered: Int { balance.offered }
        public var deliveredSamples = 0
        /// Of sources, and by processors.
        public var dropped = DropCounts()
        /// Samples that went on, silence that was filled in included.
        public var samples = 0
        /// `nil` before the first frame.
        public var format: AudioFormat?
        /// Gaps that were filled and overlaps that were cut off, and how many samples that took.
        public var corrections = AudioContinuity.Counts()
        /// The loudest sample since the statistics before, from 0 to 1; `nil` where no sound came, or none
        /// of 16-bit or float samples.
        public var level: Double?
    }
    /// One user's sound that comes from the channel.
    public struct RemoteAudio: FrameBalanced {
        public var received = 0
        public var balance: FrameBalance { FrameBalance(offered: received, delivered: received) }
        /// Of each channel.
        public var samples = 0
        public var format: AudioFormat?
        /// As of ``LocalAudio/level``.
        public var level: Double?
        /// What became of it on its way into the mix, at the playback's rate; `nil` while nothing is
        /// mixed, and once the user is gone: ``Playback/jitterBuffer`` keeps what was counted.
        public var jitterBuffer: JitterBuffer.Counts?
        /// How long its latest piece waits, or waited, before it is mixed; below zero where it was late.
        public var wait: Duration?
    }
    /// One sink of sound; frames are pieces of sound, not samples.
    public struct AudioOutput: FrameBalanced {
        public var balance = FrameBalance()
        public var offered: Int { balance.offered }
        public var rendered: Int { balance.delivered }
        public var dropped: DropCounts { balance.dropped }
        public var waiting: Int { balance.waiting }
    }
    /// The mix of all users. Samples are those of each channel, at the playback's rate.
    public struct Playback: Sendable {
        public var mixedSamples = 0
        /// Of those, samples at which nobody was heard.
        public var silentSamples = 0
        /// What became of the sound of all users together, those who are gone included.
        public var jitterBuffer = JitterBuffer.Counts()
        /// Times that nothing was left to play of a user's sound, and how much was missing.
        public var underruns: Int { jitterBuffer.underruns }
        public var missingSamples: Int { jitterBuffer.missing }
        /// Samples that were not played, of all causes.
        public var discardedSamples: Int { jitterBuffer.dropped.total }
        /// Frames that could not be converted for the mix.
        public var failedFrames = 0
    }
}
