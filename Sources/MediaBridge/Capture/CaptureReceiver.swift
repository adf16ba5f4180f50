/// What one branch of a capture delivers to: raw video as frames, everything else as samples, raw audio as
/// frames where the branch was told so (``CaptureBranch/giveAudioFrames()``).
///
/// Called on one thread at a time: the capture's streaming thread where it is a file, and may then
/// block; a delivery queue where it is live.
protocol CaptureReceiver: AnyObject, Sendable {
    func receive(_ frame: consuming VideoFrame)
    func receive(_ frame: consuming AudioFrame)
    func receive(_ sample: MediaSample)
    /// What the stream says of itself from here on. It must not wait.
    func receive(_ tags: Tags)
    /// The branch has ended; nothing follows.
    ///
    /// - Parameter loss: Why nothing ever came, where the capture turned out to have no such stream.
    func branchEnded(losing loss: PipelineError?)
}

extension CaptureReceiver {
    /// For those who never ask for it.
    func receive(_ frame: consuming AudioFrame) {}
    func receive(_ tags: Tags) {}
}
