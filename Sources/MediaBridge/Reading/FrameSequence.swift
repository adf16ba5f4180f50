extension PipelineVideoSource {
    /// Returns the frames as a sequence, from the first frame on. Reading starts the pipeline, and
    /// leaving the loop stops it: at once inside a function. At the top level of a script Swift
    /// keeps the iterator of a loop that was left by `break`; there the pipeline stops at
    /// ``stop()``, at the next loop, or when the process ends. Until then a file waits, and a live
    /// capture drops its oldest frames.
    ///
    /// The loop ends at the end of the stream. An error of the pipeline is thrown from the loop,
    /// after the frames that came before it. No thread is blocked while the loop waits. A second
    /// loop starts a new run from the first frame and replaces the loop before it; if that loop is
    /// waiting for a frame at that moment, the second loop throws
    /// ``PipelineError/Code/invalidState``.
    public func frames() -> FrameSequence { FrameSequence(reader: reader) }

    /// Stops the pipeline of a loop over ``frames()`` that was left or that another task is
    /// reading; that loop ends. Does nothing if no loop reads, or if an engine uses the source.
    ///
    /// - Throws: ``PipelineError`` if the pipeline does not stop, or if what its string records by
    ///   itself is not complete.
    public func stop() async throws(PipelineError) { try await reader.stopReading() }
}

/// The frames of a ``PipelineVideoSource``, one at a time.
public struct FrameSequence: AsyncSequence, Sendable {
    let reader: CaptureReader

    /// Returns an iterator. Each iterator is one run of the pipeline; only the latest one reads.
    public func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(reader)) }

    /// Reads the frames of one run.
    public struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun

        /// Returns the next frame; `nil` at the end of the stream and in a cancelled task.
        ///
        /// - Throws: ``PipelineError`` if the pipeline fails or its stream is not raw video.
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
