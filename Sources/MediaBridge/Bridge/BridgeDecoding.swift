internal import MediaBasics
internal import Synchronization

/// Decodes the encoded video of a stream for the processors of a bridge. Everything else passes unchanged.
///
/// A file waits for the decoder, which waits for the processors. Live units are dropped while the decoder is
/// full.
final class BridgeDecoding: CaptureReceiver {
    private struct State {
        var decoder: PipelineDecoder?
        var codec: VideoCodec?
        /// Units that no decoder accepted, by cause.
        var refused = DropCounts()
        /// The counts of decoders that no longer exist.
        var lost = 0
        var surplus = 0
        /// Units without a picture yet when the run was over.
        var unwanted = 0
    }
    private let state = Mutex(State())
    /// Weak, because it owns this object.
    private weak let stream: BridgeStream?
    private let branch: CaptureBranch
    private let onFailure: @Sendable (PipelineError) -> Void
    private let onBeginning: @Sendable () -> Void
    /// Decoders are stopped here: the state change blocks.
    private let control = SerialQueue(label: "mediabridge.bridge.decoding")

    /// - Parameters:
    ///   - onBeginning: Called when the first unit is to be decoded.
    ///   - onFailure: Called if it cannot be.
    init(
        to stream: BridgeStream, of branch: CaptureBranch,
        onBeginning: @escaping @Sendable () -> Void,
        onFailure: @escaping @Sendable (PipelineError) -> Void
    ) {
        self.stream = stream
        self.branch = branch
        self.onBeginning = onBeginning
        self.onFailure = onFailure
    }

    /// Units that gave no picture, by cause; pictures without a unit; and units whose pictures came too late
    /// for the run.
    var counts: (dropped: DropCounts, surplus: Int, unwanted: Int) {
        state.withLock { state in
            var dropped = state.refused
            dropped[.undecodable] += state.lost + (state.decoder?.lostUnits ?? 0)
            let surplus = state.surplus + (state.decoder?.pictureSurplus ?? 0)
            return (dropped, surplus, state.unwanted)
        }
    }

    /// Ends the decoder at the end of the run.
    func end() async {
        guard let decoder = state.withLock({ $0.decoder }) else { return }
        let lost = decoder.lostUnits
        await control.value { decoder.stop() }
        retire(decoder, lost: lost)
    }

    private func retire(_ decoder: PipelineDecoder, lost: Int) {
        state.withLock { state in
            state.lost += lost
            state.surplus += decoder.pictureSurplus
            state.unwanted += decoder.lostUnits - lost
            (state.decoder, state.codec) = (nil, nil)
        }
    }

    // MARK: CaptureReceiver

    func receive(_ frame: consuming VideoFrame) { stream?.receive(frame) }

    func receive(_ tags: Tags) { stream?.receive(tags) }

    func receive(_ sample: MediaSample) {
        guard sample.caps.isEncodedPictures else {
            stream?.receive(sample)
            return
        }
        // The caps contain the header, too.
        if sample.isHeader { return state.withLock { $0.unwanted += 1 } }
        let unit = EncodedVideoFrame(sample, rotation: branch.translation.rotation)
        guard unit.runningTime != nil || sample.times.decoding != nil else {
            return refuse(.noTime)
        }
        do throws(PipelineError) {
            let decoder = try decoder(for: unit.codec)
            let disposition = branch.isLive ? decoder.decode(unit) : decoder.decodeWaiting(unit)
            if case .dropped(let cause) = disposition { refuse(cause) }
        } catch {
            refuse(.undecodable)
            onFailure(error)
        }
    }

    func streamWasInterrupted() { stream?.streamWasInterrupted() }

    func branchEnded(losing loss: PipelineError?) {
        state.withLock { $0.decoder }?.drain()
        stream?.branchEnded(losing: loss)
    }

    private func refuse(_ cause: DropCause) { state.withLock { $0.refused[cause] += 1 } }

    private func decoder(
        for codec: VideoCodec
    ) throws(PipelineError) -> PipelineDecoder {
        let (present, isFit) = state.withLock { ($0.decoder, $0.codec == codec) }
        if let present {
            guard !isFit else { return present }
            present.drain()
            present.stop()
            retire(present, lost: present.lostUnits)
        }
        guard let stream else {
            throw PipelineError(.interrupted, message: "the bridge has ended")
        }
        let decoder = try PipelineDecoder(codec, to: Pictures(stream, onFailure))
        state.withLock { ($0.decoder, $0.codec) = (decoder, codec) }
        onBeginning()
        return decoder
    }

    /// Passes pictures on to the stream.
    private final class Pictures: VideoFrameConsumer {
        private weak let stream: BridgeStream?
        private let onFailure: @Sendable (PipelineError) -> Void

        init(_ stream: BridgeStream, _ onFailure: @escaping @Sendable (PipelineError) -> Void) {
            self.stream = stream
            self.onFailure = onFailure
        }

        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            stream?.receive(frame)
            return .accepted
        }

        func sourceDidFail(_ error: any Error) {
            onFailure(
                error as? PipelineError
                    ?? PipelineError(.elementFailed, message: "a decoder failed: \(error)"))
        }
    }
}
