/// Receives the media of one stream: the stream of a bridge, a decoder, an output, a recording, or what passes frames
/// to the program.
///
/// Raw video comes as frames, and everything else as samples; raw audio comes as frames if
/// ``SampleTranslation/giveAudioFrames()`` was called. Called on one thread at a time: on the streaming thread of a
/// file, which it may block; on a delivery queue if the capture is live, or on the streaming thread if it takes
/// everything at once.
protocol MediaReceiver: AnyObject, Sendable {
    @discardableResult
    func receive(_ frame: consuming VideoFrame) -> FrameDisposition
    @discardableResult
    func receive(_ frame: consuming AudioFrame) -> FrameDisposition
    @discardableResult
    func receive(_ sample: MediaSample) -> FrameDisposition
    /// Receives the tags that apply from here on. Must not block.
    func receive(_ tags: Tags)

    /// Reports that samples are missing from here on to the next, because the capture was started again.
    func streamWasInterrupted()
    /// Reports the end of the stream; no sample follows.
    func streamEnded(_ end: StreamEnd)

    /// Whether it takes samples whose caps are ANY: bytes whose format the capture does not state. Default false.
    var takesBytes: Bool { get }
    /// Whether it takes the next sample of a live capture without a wait, a conversion, or code of the program.
    /// Default false.
    var takesAtOnce: Bool { get }

    // Negotiation, before the first sample.

    /// The caps that it takes; `nil` if it takes any. Default `nil`.
    var acceptedCaps: Caps? { get }
    /// Returns the subset of `caps` that it takes, in its order of preference. Default `nil`.
    func acceptedCaps(of caps: Caps?) -> Caps?
    /// The raw formats that it prefers if the capture has a choice; `nil` if it has no preference. Default `nil`.
    var preferredCaps: Caps? { get }
    /// Lets a capture write into memory of its elements, if it has any.
    func lendMemory(to sink: AppSink)
}

/// How the stream of a receiver ended.
enum StreamEnd: Sendable {
    /// It was complete.
    case complete
    /// No sample ever came: the capture turned out to have no such stream.
    case missing(PipelineError)
    /// The end of the run ended it, for example a limit.
    case limit
}

extension MediaReceiver {
    func receive(_ frame: consuming AudioFrame) -> FrameDisposition { .dropped(.wrongBufferType) }
    func receive(_ tags: Tags) {}
    func streamWasInterrupted() {}
    var takesBytes: Bool { false }
    var takesAtOnce: Bool { false }
    var acceptedCaps: Caps? { nil }
    func acceptedCaps(of caps: Caps?) -> Caps? { nil }
    var preferredCaps: Caps? { nil }
    func lendMemory(to sink: AppSink) {}
}
