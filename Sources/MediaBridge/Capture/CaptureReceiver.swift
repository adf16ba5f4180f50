/// Receives the data of one branch of a capture: raw video as frames, everything else as samples;
/// raw audio as frames if ``CaptureBranch/giveAudioFrames()`` was called.
///
/// Called on one thread at a time: on the streaming thread of a file, which it may block; on a
/// delivery queue if the capture is live.
protocol CaptureReceiver: AnyObject, Sendable {
    func receive(_ frame: consuming VideoFrame)
    func receive(_ frame: consuming AudioFrame)
    func receive(_ sample: MediaSample)
    /// Receives the tags that apply from here on. Must not block.
    func receive(_ tags: Tags)
    /// Whether samples whose caps are ANY may be delivered: bytes whose format the capture does not
    /// state.
    var takesBytes: Bool { get }
    /// Reports that samples are missing from here on to the next, because the capture was started
    /// again.
    func streamWasInterrupted()
    /// Reports that the branch has ended; no sample follows.
    ///
    /// - Parameter loss: Why no sample ever came, if the capture turned out to have no such stream;
    ///   otherwise `nil`.
    func branchEnded(losing loss: PipelineError?)
}

extension CaptureReceiver {
    /// Does nothing: for receivers that do not ask for audio frames.
    func receive(_ frame: consuming AudioFrame) {}
    func receive(_ tags: Tags) {}
    var takesBytes: Bool { false }
    func streamWasInterrupted() {}
}

/// Fills the appsrcs of a capture's string: with media that no element brings, such as that of a server with
/// which a session has to be agreed on first.
package protocol CaptureFeed: AnyObject, Sendable {
    /// Called once with the capture's pipeline, before it runs. The feed follows the pipeline's states
    /// (``Pipeline/onMessage(_:)``): it pushes while that is playing, and may be played several times.
    /// It must not retain the pipeline.
    func attach(to pipeline: Pipeline)
}
