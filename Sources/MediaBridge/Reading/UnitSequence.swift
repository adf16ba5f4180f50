extension PipelineVideoSource {
    /// Returns the units of an encoded stream as a sequence. They arrive as the string delivers
    /// them, undecoded.
    ///
    /// ```swift
    /// let camera = try PipelineVideoSource("v4l2src ! image/jpeg")
    /// for try await unit in camera.units() { try await recorder.write(unit) }
    /// ```
    ///
    /// Reading starts and stops the pipeline as ``frames()`` does, and only one loop reads at a
    /// time, of either. Up to 16,384 units of a live capture wait for the reader, before the oldest
    /// are dropped; ``Statistics`` counts them.
    public func units() -> UnitSequence { UnitSequence(reader: reader) }
}

/// The units of a ``PipelineVideoSource``, one at a time.
public struct UnitSequence: AsyncSequence, Sendable {
    let reader: CaptureReader

    /// Returns an iterator. Each iterator is one run of the pipeline; only the latest one reads.
    public func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(reader)) }

    /// Reads the units of one run.
    public struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun

        /// Returns the next unit; `nil` at the end of the stream and in a cancelled task.
        ///
        /// - Throws: ``PipelineError`` if the pipeline fails or its stream is not encoded video.
        public mutating func next() async throws -> EncodedVideoFrame? {
            while true {
                guard case .item(let item) = try await run.next() else { return nil }
                switch item {
                case .sample(let sample) where sample.isHeader: continue
                case .sample(let sample) where sample.caps.isEncodedPictures:
                    return EncodedVideoFrame(sample, rotation: run.rotation)
                case .frame(let frame): try await run.fail(.notEncoded("video", "\(frame.format)"))
                case .audio(let frame): try await run.fail(.notEncoded("video", "\(frame.format)"))
                case .sample(let sample): try await run.fail(.notEncoded("video", "\(sample.caps)"))
                }
            }
        }
    }
}

extension PipelineAudioSource {
    /// Returns the units of a stream that comes encoded, as a sequence, as
    /// ``PipelineVideoSource/units()`` does.
    public func units() -> AudioUnitSequence { AudioUnitSequence(reader: reader) }
}

/// The units of a ``PipelineAudioSource``, one at a time.
public struct AudioUnitSequence: AsyncSequence, Sendable {
    let reader: CaptureReader

    /// Returns an iterator. Each iterator is one run of the pipeline; only the latest one reads.
    public func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(reader)) }

    /// Reads the units of one run.
    public struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun

        /// Returns the next unit; `nil` at the end of the stream and in a cancelled task.
        ///
        /// - Throws: ``PipelineError`` if the pipeline fails or its stream is not encoded audio.
        public mutating func next() async throws -> EncodedAudioFrame? {
            while true {
                guard case .item(let item) = try await run.next() else { return nil }
                switch item {
                case .sample(let sample) where sample.isHeader: continue
                case .sample(let sample) where sample.caps.isSound && !sample.isRawAudio:
                    return EncodedAudioFrame(sample)
                case .frame(let frame): try await run.fail(.notEncoded("audio", "\(frame.format)"))
                case .audio(let frame): try await run.fail(.notEncoded("audio", "\(frame.format)"))
                case .sample(let sample):
                    try await run.fail(.notEncoded("audio", "\(sample.caps)"))
                }
            }
        }
    }
}

extension PipelineError {
    fileprivate static func notEncoded(_ kind: String, _ what: String) -> PipelineError {
        PipelineError(
            .streamFailed, message: "the capture produces \(what), not encoded \(kind)",
            advice: "read raw frames with frames(), or put an encoder, or the parser of an encoded "
                + "stream, at the end of the string")
    }
}
