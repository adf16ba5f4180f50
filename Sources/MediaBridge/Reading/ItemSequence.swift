internal import MediaBasics

extension PipelineVideoSource {
    /// Returns the frames of an encoded stream as a sequence. They arrive as the string delivers
    /// them, undecoded.
    ///
    /// ```swift
    /// let camera = try PipelineVideoSource("v4l2src ! image/jpeg")
    /// for try await frame in camera.encodedFrames() { try await recorder.write(frame) }
    /// ```
    ///
    /// Reading starts and stops the pipeline as ``frames()`` does, and only one loop reads at a
    /// time, of either. Up to 16,384 encoded frames of a live capture wait for the reader, before the
    /// oldest are dropped; ``PipelineSource/statistics`` counts them. The loop throws ``PipelineError`` if the
    /// stream is not encoded video.
    public func encodedFrames() -> some AsyncSequence<EncodedVideoFrame, PipelineError> & Sendable {
        ItemSequence(source: self) { item, run throws(PipelineError) in
            try item.units("video") { sample in
                sample.caps.isEncodedPictures
                    ? EncodedVideoFrame(sample, rotation: run.rotation) : nil
            }
        }
    }
}

extension PipelineAudioSource {
    /// Returns the frames of an encoded stream as a sequence, as
    /// ``PipelineVideoSource/encodedFrames()`` does.
    public func encodedFrames() -> some AsyncSequence<EncodedAudioFrame, PipelineError> & Sendable {
        ItemSequence(source: self) { item, _ throws(PipelineError) in
            try item.units("audio") { sample in
                sample.caps.isSound && !sample.isRawAudio ? EncodedAudioFrame(sample) : nil
            }
        }
    }
}

/// What a loop over a source gets, made from the items of its capture.
struct ItemSequence<Element: Sendable>: AsyncSequence, Sendable {
    typealias Elements =
        @Sendable (SampleTranslation.Item, SequenceRun) throws(PipelineError) -> [Element]
    let source: PipelineSource
    /// Returns what an item gives, in order.
    let elements: Elements

    /// Returns an iterator. Each iterator is one run of the pipeline; only the latest one reads.
    func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(source), elements: elements) }

    /// Reads one run.
    struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun
        let elements: Elements
        fileprivate var waiting = Fifo<Element>()

        /// Returns the next element; `nil` at the end of the stream and in a cancelled task.
        ///
        /// - Throws: ``PipelineError`` if the pipeline fails, or if its stream is of another kind.
        mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(PipelineError) -> Element? {
            while true {
                if let element = waiting.popFirst() { return element }
                guard case .item(let item) = try await run.next() else { return nil }
                do throws(PipelineError) {
                    for element in try elements(item, run) { waiting.append(element) }
                } catch {
                    try await run.fail(error)
                }
            }
        }
    }
}

extension SampleTranslation.Item {
    /// Returns the unit in the item; nothing for a header.
    ///
    /// - Parameters:
    ///   - kind: The media of the units in errors: `video` or `audio`.
    ///   - unit: Returns the unit of a sample; `nil` if the sample does not contain one.
    fileprivate func units<Unit>(
        _ kind: String, _ unit: (MediaSample) -> Unit?
    ) throws(PipelineError) -> [Unit] {
        switch self {
        case .sample(let sample) where sample.isHeader: return []
        case .sample(let sample):
            if let unit = unit(sample) { return [unit] }
            throw .notEncoded(kind, "\(sample.caps)")
        case .frame(let frame): throw .notEncoded(kind, "\(frame.format)")
        case .audio(let frame): throw .notEncoded(kind, "\(frame.format)")
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
