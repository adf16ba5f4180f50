internal import MediaBasics
internal import Synchronization

/// Decodes the units of a stream that is read as frames. The decoder is stopped when this object is
/// released.
final class UnitDecoding: Sendable {
    var codec: VideoCodec { decoder.codec }
    private let pictures: Pictures
    private let decoder: PipelineDecoder
    private let control = SerialQueue(label: "mediabridge.reading")
    private let refused = Mutex(DropCounts())

    /// Keeps the pictures until they are read.
    private final class Pictures: VideoFrameConsumer {
        private struct State {
            var waiting = Fifo<VideoFrame>()
            var failure: PipelineError?
        }
        private let state = Mutex(State())
        private let onPicture: @Sendable () -> Void

        init(_ onPicture: @escaping @Sendable () -> Void) { self.onPicture = onPicture }

        var isEmpty: Bool { state.withLock { $0.waiting.isEmpty && $0.failure == nil } }

        func take() throws(PipelineError) -> VideoFrame? {
            try state.withLock { state throws(PipelineError) in
                if let picture = state.waiting.popFirst() { return picture }
                if let failure = state.failure { throw failure }
                return nil
            }
        }

        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            let frame = frame
            state.withLock { $0.waiting.append(frame) }
            onPicture()
            return .accepted
        }

        func sourceDidFail(_ error: any Error) {
            state.withLock { $0.failure = PipelineError(error) }
            onPicture()
        }
    }

    /// Creates a decoder.
    ///
    /// - Parameter onPicture: Called on the decoder's thread when ``hasPicture`` becomes true.
    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    init(
        _ codec: VideoCodec, onPicture: @escaping @Sendable () -> Void
    ) async throws(PipelineError) {
        let pictures = Pictures(onPicture)
        self.pictures = pictures
        decoder = try await control.value {
            Result { () throws(PipelineError) in try PipelineDecoder(codec, to: pictures) }
        }.get()
    }

    deinit { control.async { [decoder] in decoder.stop() } }

    /// Whether ``take()`` returns a picture or throws.
    var hasPicture: Bool { !pictures.isEmpty }

    /// Returns the next picture that is there.
    ///
    /// - Throws: The error of the decoder, after its last picture.
    func take() throws(PipelineError) -> VideoFrame? { try pictures.take() }

    /// Decodes a unit; suspends while too many wait. If the task is cancelled meanwhile, the decoder is
    /// stopped.
    func decode(_ unit: EncodedVideoFrame) async {
        var result = decoder.decode(unit)
        if result == .dropped(.queueFull) {
            result = await withTaskCancellationHandler {
                await control.value { [decoder] in decoder.decodeWaiting(unit) }
            } onCancel: { [decoder] in
                SerialQueue(label: "mediabridge.cancelled").async { decoder.stop() }
            }
        }
        if case .dropped(let cause) = result { refused.withLock { $0[cause] += 1 } }
    }

    /// Delivers what the decoder holds back.
    func drain() async { await control.value { [decoder] in decoder.drain() } }

    /// The units that gave no picture, by cause.
    var lost: DropCounts {
        var lost = refused.withLock { $0 }
        lost[.undecodable] += decoder.lostUnits
        return lost
    }
}

extension AudioDecoding {
    /// Returns the frames of a sample; none for a header, and for a unit that is damaged.
    ///
    /// - Parameter undecoded: Counts the units that are damaged.
    /// - Returns: `nil` if the sample is no unit of audio.
    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    func frames(
        of sample: MediaSample, counting undecoded: UndecodedUnits
    ) throws(PipelineError) -> [AudioFrame]? {
        guard sample.caps.isSound, !sample.isRawAudio else { return nil }
        guard !sample.isHeader else { return [] }
        if let frames = try decode(EncodedAudioFrame(sample)) { return frames }
        undecoded.note(.undecodable)
        return []
    }
}

/// The units of a run that a loop over frames read and that gave none, by cause. Thread: any.
final class UndecodedUnits: Sendable {
    private struct State {
        weak var decoding: UnitDecoding?
        var past = DropCounts()
    }
    private let state = Mutex(State())

    /// Begins to count those of a decoder.
    func begin(_ decoding: UnitDecoding) { state.withLock { $0.decoding = decoding } }

    /// Keeps the counts of the present decoder, which is released.
    func settle() {
        state.withLock { state in
            guard let decoding = state.decoding else { return }
            state.past = state.past + decoding.lost
            state.decoding = nil
        }
    }

    func note(_ cause: DropCause) { state.withLock { $0.past[cause] += 1 } }

    /// Forgets an earlier run.
    func reset() { state.withLock { $0 = State() } }

    var counts: DropCounts {
        state.withLock { state in state.decoding.map { state.past + $0.lost } ?? state.past }
    }
}
