internal import MediaBasics
internal import Synchronization

/// Decodes the units of a stream that is read as frames. The decoder is stopped when this object is
/// released.
final class UnitDecoding: Sendable {
    let codec: VideoCodec
    private let pictures: Pictures
    private let decoder: PipelineDecoder
    private let control: SerialQueue
    private let refused = Mutex(DropCounts())

    /// Keeps the pictures until they are read.
    private final class Pictures: VideoFrameConsumer {
        private struct State {
            var waiting = Fifo<VideoFrame>()
            var failure: (any Error)?
        }
        private let state = Mutex(State())
        private let onPicture: @Sendable () -> Void

        init(_ onPicture: @escaping @Sendable () -> Void) { self.onPicture = onPicture }

        var isEmpty: Bool { state.withLock { $0.waiting.isEmpty && $0.failure == nil } }

        func take() throws -> VideoFrame? {
            try state.withLock { state in
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
            state.withLock { $0.failure = error }
            onPicture()
        }
    }

    private init(
        _ codec: VideoCodec, _ decoder: PipelineDecoder, _ pictures: Pictures,
        _ control: SerialQueue
    ) {
        (self.codec, self.decoder, self.pictures, self.control) = (
            codec, decoder, pictures, control
        )
    }

    deinit { control.async { [decoder] in decoder.stop() } }

    /// Creates a decoder.
    ///
    /// - Parameter onPicture: Called on the decoder's thread when ``hasPicture`` becomes true.
    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    static func begin(
        _ codec: VideoCodec, onPicture: @escaping @Sendable () -> Void
    ) async throws(PipelineError) -> UnitDecoding {
        let (pictures, control) = (Pictures(onPicture), SerialQueue(label: "mediabridge.reading"))
        let decoder = try await control.value {
            Result { () throws(PipelineError) in try PipelineDecoder(codec, to: pictures) }
        }.get()
        return UnitDecoding(codec, decoder, pictures, control)
    }

    /// Whether ``take()`` returns a picture or throws.
    var hasPicture: Bool { !pictures.isEmpty }

    /// Returns the next picture that is there.
    ///
    /// - Throws: The error of the decoder, after its last picture.
    func take() throws -> VideoFrame? { try pictures.take() }

    /// Decodes a unit; suspends while too many wait.
    func decode(_ unit: EncodedVideoFrame) async {
        guard case .dropped(let cause) = await decoder.decodeInTurn(unit) else { return }
        // A cancelled reader leaves the unit where it is.
        if cause != .queueFull { refused.withLock { $0[cause] += 1 } }
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
