/// An audio source made from a gst-launch string: a microphone, a file, a test tone, a network
/// stream.
///
/// ```swift
/// let source = try PipelineAudioSource("audiotestsrc ! audio/x-raw,rate=48000")
/// for try await frame in source.frames() { print(frame) }
/// ```
///
/// If the reader is slow, a live capture drops its oldest frames and counts them; a file waits.
/// Read it as a sequence with ``frames()``, or give it to an engine, which sets ``consumer`` and
/// calls the `should…` methods on its control thread. If a capture delivers both video and audio,
/// use ``PipelineVideoSource/audio`` of its video source. Thread: any but a streaming thread.
public final class PipelineAudioSource: PipelineSource, AudioSource, @unchecked Sendable {
    /// Parses the string. If it has no appsink, one is added at its open end. If it has several,
    /// the one named `audio` is read, or else the first by name.
    ///
    /// Samples are taken as fast as they come. To pace a file, put `identity sync=true` in the
    /// string.
    ///
    /// - Parameters:
    ///   - text: A gst-launch string that delivers audio.
    ///   - configuration: How the capture is read.
    /// - Throws: ``PipelineError`` with GStreamer's message.
    public convenience init(
        _ text: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        let capture = try Capture(
            text, depth: max(configuration.depth, QueueDepth.sound),
            branch: BridgedText.audioBranch,
            under: configuration.untrusted)
        let branch = capture.branch(BridgedText.audioBranch) ?? capture.branches[0]
        self.init(CaptureRuns(capture), branch)
    }

    override init(_ runs: CaptureRuns, _ branch: CaptureBranch) {
        super.init(runs, branch)
        branch.translation.giveAudioFrames()
    }

    /// Returns the frames as a sequence, from the first frame on: see ``PipelineSource``.
    ///
    /// An encoded stream is decoded (Opus, AAC, MP3, FLAC, Vorbis, AC-3, G.711, if a decoder is
    /// installed); ``encodedFrames()`` reads it without decoding. The loop throws ``PipelineError`` if the stream
    /// is not audio, or if no decoder for its codec is installed.
    public func frames() -> some AsyncSequence<AudioFrame, PipelineError> & Sendable {
        ItemSequence(source: self) { item, run throws(PipelineError) in
            switch item {
            case .audio(let frame): return [frame]
            case .frame(let frame): throw .notRaw("audio", "\(frame.format)")
            case .sample(let sample):
                let (decoding, undecoded) = (run.source.audioDecoding, run.source.undecoded)
                if let frames = try decoding.frames(of: sample, counting: undecoded) {
                    return frames
                }
                throw .notRaw("audio", "\(sample.caps)")
            }
        }
    }

    // MARK: AudioSource, for an engine's control thread

    /// Receives every frame: on the capture's streaming thread if it is a file, on a delivery queue
    /// if it is live. After the frames it gets the end of the stream or the pipeline's error, on a
    /// private queue of the source. An error that ``PipelineSource/shouldStart()`` throws is not
    /// reported to it.
    public var consumer: (any AudioFrameConsumer)? {
        get {
            if case .audio(let consumer) = delivery.consumer { consumer } else { nil }
        }
        set { delivery.consumer = newValue.map { .audio($0) } }
    }
}
