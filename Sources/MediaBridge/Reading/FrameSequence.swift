extension PipelineVideoSource {
    /// Returns the frames as a sequence, from the first frame on: see ``PipelineSource``.
    ///
    /// An encoded stream is decoded (H.264, H.265, VP8, VP9, AV1, JPEG, if a decoder is installed), beginning with
    /// a key frame; ``encodedFrames()`` reads it without decoding. ``PipelineSource/statistics`` counts encoded
    /// frames that gave no picture as ``DropCause/undecodable`` or ``DropCause/needsKeyFrame``. The loop throws
    /// ``PipelineError`` if the stream is not video, or if no decoder for its codec is installed.
    public func frames() -> some AsyncSequence<VideoFrame, PipelineError> & Sendable {
        FrameSequence(source: self)
    }
}

/// The frames of a ``PipelineVideoSource``, one at a time.
struct FrameSequence: AsyncSequence, Sendable {
    let source: PipelineSource

    /// Returns an iterator. Each iterator is one run of the pipeline; only the latest one reads.
    func makeAsyncIterator() -> Iterator { Iterator(run: SequenceRun(source)) }

    /// Reads the frames of one run.
    struct Iterator: AsyncIteratorProtocol {
        let run: SequenceRun
        /// Decodes a stream that comes encoded; `nil` while it is raw.
        private var decoding: UnitDecoding?
        /// The item that followed the units of the present decoder.
        private var held: SampleTranslation.Item?
        /// How the loop ends after the last picture; `nil` while it goes on.
        private var end: Result<Void, PipelineError>?

        init(run: SequenceRun) { self.run = run }

        /// Returns the next frame; `nil` at the end of the stream and in a cancelled task.
        ///
        /// - Throws: ``PipelineError`` if the pipeline fails, or if its stream is not raw video and not of a codec
        ///   that can be decoded.
        mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(PipelineError) -> VideoFrame? {
            do throws(PipelineError) {
                while true {
                    if let picture = try decoding?.take() { return picture }
                    if end != nil || held != nil { endDecoding() }
                    if let end {
                        try end.get()
                        return nil
                    }
                    if let frame = try await advance() { return frame }
                }
            } catch {
                end = .success(())
                endDecoding()
                do { try await run.stop() } catch {}  // the first error is the one to report
                throw error
            }
        }

        /// Reads on.
        ///
        /// - Returns: A frame if the stream is raw; those of a decoder come later.
        private mutating func advance() async throws(PipelineError) -> VideoFrame? {
            do throws(PipelineError) {
                if let item = held.take() { return try await use(item) }
                let decoding = self.decoding
                switch try await run.next(unless: { decoding?.hasPicture == true }) {
                case .item(let item): return try await use(item)
                case .other: return nil
                case .end: end = .success(())
                }
            } catch {
                end = .failure(error)
            }
            // A cancelled task does not wait for the last pictures.
            if !Task.isCancelled { await decoding?.drain() }
            return nil
        }

        private mutating func use(
            _ item: SampleTranslation.Item
        ) async throws(PipelineError) -> VideoFrame? {
            switch item {
            case .frame(let frame):
                guard decoding != nil else { return frame }
                await hold(item)
            case .sample(let sample) where sample.isHeader: break
            case .sample(let sample) where sample.caps.isEncodedPictures:
                let unit = EncodedVideoFrame(sample, rotation: run.rotation)
                if let decoding, decoding.codec != unit.codec {
                    await hold(item)
                } else {
                    try await decode(unit)
                }
            case .sample(let sample): throw PipelineError.notRaw("video", "\(sample.caps)")
            case .audio(let frame): throw PipelineError.notRaw("video", "\(frame.format)")
            }
            return nil
        }

        /// Keeps an item until all pictures before it are read.
        private mutating func hold(_ item: SampleTranslation.Item) async {
            held = item
            await decoding?.drain()
        }

        private mutating func decode(_ unit: EncodedVideoFrame) async throws(PipelineError) {
            if decoding == nil {
                let fresh = try await UnitDecoding(unit.codec) { [weak run] in
                    run?.lookAgain()
                }
                run.source.undecoded.begin(fresh)
                decoding = fresh
            }
            await decoding?.decode(unit)
        }

        private mutating func endDecoding() {
            guard decoding != nil else { return }
            run.source.undecoded.settle()
            decoding = nil
        }
    }
}
