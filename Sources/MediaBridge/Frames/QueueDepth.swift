/// How many buffers of a kind may wait in a queue between a capture and an output.
enum QueueDepth {
    /// Raw audio: its buffers are short, so that a few would be a few milliseconds.
    static let sound = 64

    /// Units that a recording takes as they are: some seconds, in which a disk may stand still.
    static let copied = 256

    /// An encoded stream of a live capture, whose oldest buffers are evicted from a full queue. One
    /// that is lost damages those behind it, and an encoder that looks ahead outputs seconds at
    /// once, in packets of 188 bytes behind mpegtsmux: only a reader that stands still may cost
    /// any.
    static let encoded = 16_384
}
