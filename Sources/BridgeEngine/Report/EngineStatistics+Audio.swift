public import MediaCore

extension EngineStatistics {
    /// The engine's own audio. Sample counts are per channel.
    public struct LocalAudio: Sendable {
        /// Frames that sources delivered, how many of them were accepted, and the causes of the
        /// drops.
        public var balance = FrameBalance()
        /// Frames that sources delivered.
        public var delivered: Int { balance.offered }
        /// Samples that sources delivered, per channel.
        public var deliveredSamples = 0
        /// Frames of sources that were refused, and frames that processors dropped.
        public var dropped = DropCounts()
        /// Samples that were passed on, including inserted silence.
        public var samples = 0
        /// The format of the latest frame; `nil` before the first one.
        public var format: AudioFormat?
        /// Gaps that were filled and overlaps that were cut off, and the number of samples
        /// involved.
        public var corrections = AudioContinuity.Counts()
        /// The peak level since the previous statistics, from 0 to 1; `nil` if no audio arrived, or
        /// only samples other than 16-bit integers and floats.
        public var level: Double?
    }
    /// The audio of one user in the channel.
    public struct RemoteAudio: FrameBalanced {
        /// Frames and encoded units received.
        public var received = 0
        /// The received frames as a balance: all count as delivered.
        public var balance: FrameBalance { FrameBalance(offered: received, delivered: received) }
        /// Encoded units that were decoded because the audio had a listener.
        public var decoding = FrameBalance()
        /// Samples received or decoded, per channel.
        public var samples = 0
        /// Samples in ``samples`` that replace lost units, per channel.
        public var concealedSamples = 0
        /// The format of the latest frame.
        public var format: AudioFormat?
        /// The peak level, as in ``LocalAudio/level``.
        public var level: Double?
        /// The counts of the user's jitter buffer, at the playback's sample rate; `nil` while
        /// nothing is mixed, and once the user is gone: ``Playback/jitterBuffer`` keeps what was
        /// counted.
        public var jitterBuffer: JitterBuffer.Counts?
        /// The time that the user's latest frame waits, or waited, before it is mixed; negative if
        /// it was late.
        public var wait: Duration?
    }
    /// One audio sink. The counts are audio frames, not samples.
    public struct AudioOutput: FrameBalanced {
        /// Frames that were offered and rendered, and the causes of the drops.
        public var balance = FrameBalance()
        /// Frames offered to the sink.
        public var offered: Int { balance.offered }
        /// Frames that the sink rendered.
        public var rendered: Int { balance.delivered }
        /// Dropped frames by cause.
        public var dropped: DropCounts { balance.dropped }
        /// Frames that are still queued, before the sink or inside it.
        public var waiting: Int { balance.waiting }
        /// The median latency of live frames, from capture until the sink has returned; `nil` before
        /// the first live frame.
        public var latencyP50: Duration?
        /// The 99th percentile of the latency; otherwise as ``latencyP50``.
        public var latencyP99: Duration?
    }
    /// The mix of all users. Samples are counted per channel, at the playback's sample rate.
    public struct Playback: Sendable {
        /// Samples that were mixed.
        public var mixedSamples = 0
        /// Samples in ``mixedSamples`` during which no user was heard.
        public var silentSamples = 0
        /// The sum of all users' jitter buffer counts, including users that have left.
        public var jitterBuffer = JitterBuffer.Counts()
        /// The number of times that a user's audio ran out.
        public var underruns: Int { jitterBuffer.underruns }
        /// Samples that were missing because a user's audio had run out.
        public var missingSamples: Int { jitterBuffer.missing }
        /// Samples that were not played, over all causes.
        public var discardedSamples: Int { jitterBuffer.dropped.total }
        /// Frames that could not be converted for the mix.
        public var failedFrames = 0
    }
}
