/// What a bridge did, when it has ended or so far.
public struct BridgeReport: Hashable, Sendable {
    /// One stream of a capture, or one output.
    public struct Counts: Hashable, Sendable {
        /// Frames that passed: out of a capture, or into a muxer, payloader or sink.
        public var frames: Int
        /// Frames lost, by cause.
        public var dropped: DropCounts
        /// What came, and what became of it. Of an output: of all its streams, up to its elements. Frames
        /// that came after the end of the bridge are not wanted, and not in it.
        public var balance: FrameBalance
        /// Bytes in the output's files; `nil` where it writes none.
        public var bytes: Int?
    }

    /// Why it ended.
    public enum End: String, Hashable, Sendable {
        /// Every capture came to its end.
        case eos
        /// The frame limit.
        case frames
        /// The duration limit.
        case duration
        /// ``Bridge/stop()``.
        case interrupt
        /// A capture, a processor or every output failed.
        case error
    }

    /// By stream name.
    public var captures: [String: Counts]
    /// By output name. Frames are those of `video` where the output takes it.
    public var outputs: [String: Counts]
    /// Wall time from the start of the captures to their end.
    public var seconds: Double
    /// `nil` while the bridge runs.
    public var ended: End?
    /// Everything that went wrong, the first first. Not empty does not mean that nothing was written.
    public var failures: [PipelineError]

    public init(
        captures: [String: Counts], outputs: [String: Counts], seconds: Double, ended: End?,
        failures: [PipelineError]
    ) {
        self.captures = captures
        self.outputs = outputs
        self.seconds = seconds
        self.ended = ended
        self.failures = failures
    }

    /// - Returns: This report.
    /// - Throws: The first failure, where there was one.
    @discardableResult
    public func get() throws(PipelineError) -> BridgeReport {
        if let failure = failures.first { throw failure }
        return self
    }
}
