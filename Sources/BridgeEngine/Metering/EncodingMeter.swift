internal import MediaCore

/// Counts the frames of a track that were to be encoded for a channel, and their units. Thread: any.
final class EncodingMeter: Sendable {
    /// Frames up to the encoder: delivered ones were accepted by it.
    let frames = FlowMeter<VideoMedia>()
    /// Units that encoders made.
    let units = RateMeter()
    /// Frames that encoders accepted and made no unit of.
    let lost = DropMeter()

    var balance: FrameBalance {
        let (units, lost) = (self.units.frames, self.lost.all)
        var frames = frames.balance
        let accepted = frames.delivered
        frames.delivered = min(units, accepted)
        frames.dropped = frames.dropped + lost
        frames.offered = max(frames.offered, frames.delivered + frames.dropped.total)
        return frames
    }
}
