extension PipelineVideoSource {
    /// The frames, from the first on. Reading starts the pipeline; leaving the loop, in whatever way,
    /// stops it.
    ///
    /// The loop ends at the end of the stream. An error in the pipeline is thrown out of it, after the
    /// frames that came before the error. No thread is blocked meanwhile.
    public func frames() -> FrameSequence { FrameSequence(reader: reader) }
}

/// The frames of a ``PipelineVideoSource``, one at a time.
public struct FrameSequence: AsyncSequence, Sendable {
    let reader: CaptureReader

    /// Each iterator is a run of the pipeline; one at a time.
    public func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(reader)) }

    public struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun

        /// - Throws: ``PipelineError``.
        public mutating func next() async throws -> VideoFrame? {
            switch try await run.next() {
            case nil: return nil
            case .frame(let frame): return frame
            case .audio(let frame): try await run.fail(.notRaw("video", "\(frame.format)"))
            case .sample(let sample): try await run.fail(.notRaw("video", "\(sample.caps)"))
            }
        }
    }
}
