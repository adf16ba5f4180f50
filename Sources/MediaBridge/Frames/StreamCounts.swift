/// The counts of one stream of a capture, of one output or sink, or of one detector.
///
/// Audio is counted in buffers, not samples.
public struct StreamCounts: Sendable {
    /// Frames that passed: out of a capture; into the muxer or payloader of an output, or else into its
    /// sink element, if they were not too late there; or through a detector. Behind an encoder of audio,
    /// what the encoder put out.
    public var frames: Int
    /// Frames lost, by cause.
    public var dropped: DropCounts
    /// Accounts for the frames that came. A frame of an output counts as delivered if it went on to the
    /// output's elements and was not too late for its display. An element may itself drop or repeat frames
    /// (`videorate`), which only ``frames`` shows.
    ///
    /// Of an output of a bridge: over all of its streams, without frames that came after the end of the
    /// bridge, which are not wanted. Of a sink: with the frames that it refused.
    public var balance: FrameBalance
    /// Size in bytes of the output's files; `nil` if it writes none.
    public var bytes: Int?
    /// Why the output, the detector, the stream or its capture failed; `nil` if it did not. A sink throws
    /// its failure instead.
    public var failure: PipelineError?
    /// How often a stream of a capture that is restarted delivered nothing, including an outage that
    /// lasts; `nil` for everything else, and without ``BridgePlan/restart``.
    public var outages: Int?
    /// How often the stream delivered again after an outage.
    public var restarts = 0
    /// The media time of the outages in total: from the end of the last frame to the next frame, or to
    /// the present.
    public var outageDuration = Duration.zero
    /// The number of events of a detector that began; zero for everything else.
    public var events = 0
    /// The packets of a stream from WHEP, or of an output to WHIP or to a channel; `nil` for others.
    public var packets: PacketCounts?
}

extension StreamCounts {
    /// Creates counts that have no other losses than those in `balance`.
    package init(_ balance: FrameBalance, packets: PacketCounts? = nil) {
        self.init(
            frames: balance.delivered, dropped: balance.dropped, balance: balance, packets: packets)
    }
}

extension StreamCounts: CustomStringConvertible {
    /// `90 frames, dropped: 2 late, 123456 bytes`
    public var description: String {
        (["\(frames) frames", "dropped: \(dropped)"] + (bytes.map { ["\($0) bytes"] } ?? []))
            .joined(separator: ", ")
    }
}
