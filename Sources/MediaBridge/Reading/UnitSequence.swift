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
    /// are dropped; ``PipelineSource/statistics`` counts them. The loop throws ``PipelineError`` if the stream is
    /// not encoded video.
    public func units() -> some AsyncSequence<EncodedVideoFrame, any Error> & Sendable {
        UnitSequence(source: self, kind: "video") { sample, rotation in
            sample.caps.isEncodedPictures ? EncodedVideoFrame(sample, rotation: rotation) : nil
        }
    }
}

extension PipelineAudioSource {
    /// Returns the units of a stream that comes encoded, as a sequence, as
    /// ``PipelineVideoSource/units()`` does.
    public func units() -> some AsyncSequence<EncodedAudioFrame, any Error> & Sendable {
        UnitSequence(source: self, kind: "audio") { sample, _ in
            sample.caps.isSound && !sample.isRawAudio ? EncodedAudioFrame(sample) : nil
        }
    }
}

/// The units of a source, one at a time.
struct UnitSequence<Unit>: AsyncSequence, Sendable {
    let source: PipelineSource
    /// The media of the units in errors: `video` or `audio`.
    let kind: String
    /// Returns the unit of a sample; `nil` if the sample does not contain one.
    let unit: @Sendable (MediaSample, VideoRotation) -> Unit?

    /// Returns an iterator. Each iterator is one run of the pipeline; only the latest one reads.
    func makeAsyncIterator() -> Iterator {
        Iterator(run: SequenceRun(source), kind: kind, unit: unit)
    }

    /// Reads the units of one run.
    struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun
        let kind: String
        let unit: @Sendable (MediaSample, VideoRotation) -> Unit?

        /// Returns the next unit; `nil` at the end of the stream and in a cancelled task.
        ///
        /// - Throws: ``PipelineError`` if the pipeline fails or its stream is not encoded media of
        ///   the kind.
        mutating func next() async throws -> Unit? {
            while true {
                guard case .item(let item) = try await run.next() else { return nil }
                switch item {
                case .sample(let sample) where sample.isHeader: continue
                case .sample(let sample):
                    if let unit = unit(sample, run.rotation) { return unit }
                    try await run.fail(.notEncoded(kind, "\(sample.caps)"))
                case .frame(let frame): try await run.fail(.notEncoded(kind, "\(frame.format)"))
                case .audio(let frame): try await run.fail(.notEncoded(kind, "\(frame.format)"))
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
