public import MediaCore

extension EngineStatistics {
    /// The engine's own sound. Samples are those of each channel.
    public struct LocalAudio: Sendable {
        /// Frames that the source delivered, and what became of those that were not taken.
        public var delivered = 0
        public var deliveredSamples = 0
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
    public struct RemoteAudio: Sendable {
        public var received = 0
        /// Of each channel.
        public var samples = 0
        public var format: AudioFormat?
        /// As of ``LocalAudio/level``.
        public var level: Double?
    }
    /// One sink of sound; frames are pieces of sound, not samples.
    public struct AudioOutput: Sendable {
        public var offered = 0
        public var rendered = 0
        public var dropped = DropCounts()
    }
    /// The mix of all users. Samples are those of each channel, at the playback's rate.
    public struct Playback: Sendable {
        public var mixedSamples = 0
        /// Of those, samples at which nobody was heard.
        public var silentSamples = 0
        /// Times that a user's sound came too late to be played without a break, and how much was missing.
        public var underruns = 0
        public var missingSamples = 0
        /// Old samples that were thrown away because more came than was played.
        public var discardedSamples = 0
        /// Frames that could not be converted for the mix.
        public var failedFrames = 0
    }
}
