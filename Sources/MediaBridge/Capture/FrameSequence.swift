extension PipelineVideoSource {
    /// The frames, from the first on. Reading starts the pipeline, and leaving the loop stops it: at once in a
    /// function. At the top level of a script Swift keeps the iterator of a loop that was left by `break`:
    /// there the pipeline stops with ``stop()``, with the next loop, or with the process; until then a file
    /// waits, and a live capture drops its oldest frames.
    ///
    /// The loop ends at the end of the stream. An error in the pipeline is thrown out of it, after the
    /// frames that came before the error. No thread is blocked meanwhile. A second loop is a run of its own,
    /// from the first frame on, and takes the place of the one before; where that one waits for a frame just
    /// then, it is refused.
    public func frames() -> FrameSequence { FrameSequence(reader: reader) }

    /// Stops the pipeline of a loop over ``frames()`` that was left, or is read by another task: that loop
    /// ends. Does nothing where none reads, and to an engine's source.
    ///
    /// - Throws: ``PipelineError`` where the pipeline does not stop, or what it records by itself is not
    ///   complete.
    public func stop() async throws(PipelineError) { try await reader.stopReading() }
}

/// The frames of a ``PipelineVideoSource``, one at a time.
public struct FrameSequence: AsyncSequence, Sendable {
    let reader: CaptureReader

    /// Each iterator is a run of the pipeline; the latest reads.
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
