internal import MediaBasics
internal import Synchronization

/// Decodes the encoded media of a stream for the processors of a bridge. Everything else passes unchanged.
///
/// Pictures come out on a thread of the decoder: a file waits for it, and it waits for the processors; live
/// units are dropped while the decoder is full. Audio is decoded on the thread that delivers it.
final class BridgeDecoding: MediaReceiver, VideoFrameConsumer {
    private struct State {
        var decoder: PipelineDecoder?
        /// Units that no decoder accepted, by cause.
        var refused = DropCounts()
        /// The counts of decoders that no longer exist.
        var lost = 0
        var surplus = 0
        /// Units without a picture yet when the run was over.
        var unwanted = 0
        var hasWarned = false
        /// Whether the run is over.
        var isOver = false
    }
    private let state = Mutex(State())
    private let audioDecoding = AudioDecoding()
    /// Weak, because it owns this object.
    private weak let stream: BridgeStream?
    private let branch: CaptureBranch
    private let name: String
    private let processors: StreamProcessors
    private let run: BridgeRun
    /// Decoders are stopped here: the state change blocks.
    private let control = SerialQueue(label: "mediabridge.bridge.decoding")

    init(to stream: BridgeStream, for processors: StreamProcessors, in run: BridgeRun) {
        self.stream = stream
        self.processors = processors
        branch = stream.branch
        name = stream.name
        self.run = run
    }

    /// Units that gave no frame, by cause; frames without a unit; and units whose frames came too late
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
        let decoder = state.withLock { state in
            state.isOver = true
            return state.decoder
        }
        guard let decoder else { return }
        let lost = decoder.lostUnits
        await control.value { decoder.stop() }
        retire(decoder, lost: lost)
    }

    private func retire(_ decoder: PipelineDecoder, lost: Int) {
        state.withLock { state in
            state.lost += lost
            state.surplus += decoder.pictureSurplus
            state.unwanted += decoder.lostUnits - lost
            state.decoder = nil
        }
    }

    // MARK: MediaReceiver

    func receive(_ frame: consuming VideoFrame) -> FrameDisposition {
        stream?.receive(frame) ?? .dropped(.closed)
    }

    func receive(_ tags: Tags) { stream?.receive(tags) }

    func receive(_ sample: MediaSample) -> FrameDisposition {
        guard processors.decode(sample.caps) else {
            return stream?.receive(sample) ?? .dropped(.closed)
        }
        // The caps contain the header, too.
        if sample.isHeader {
            state.withLock { $0.unwanted += 1 }
            return .accepted
        }
        do throws(PipelineError) {
            return sample.caps.isSound ? try decodeSound(sample) : try decodePicture(sample)
        } catch {
            run.fail(error)
            return refuse(.undecodable)
        }
    }

    private func decodePicture(_ sample: MediaSample) throws(PipelineError) -> FrameDisposition {
        let unit = EncodedVideoFrame(sample, rotation: branch.translation.rotation)
        guard unit.runningTime != nil || sample.times.decoding != nil else {
            return refuse(.noTime)
        }
        let decoder = try decoder(for: unit.codec)
        let disposition = branch.isLive ? decoder.decode(unit) : decoder.decodeWaiting(unit)
        if case .dropped(let cause) = disposition { return refuse(cause) }
        return disposition
    }

    private func decodeSound(_ sample: MediaSample) throws(PipelineError) -> FrameDisposition {
        let unit = EncodedAudioFrame(sample)
        guard unit.runningTime != nil else { return refuse(.noTime) }
        let frames = try audioDecoding.decode(unit)
        warnOfDecoding()
        guard let frames, let samples = try? frames.map({ try MediaSample($0) }) else {
            return refuse(.undecodable)
        }
        state.withLock { $0.surplus += samples.count - 1 }
        for sample in samples { _ = stream?.receive(sample) }
        return .accepted
    }

    func streamWasInterrupted() { stream?.streamWasInterrupted() }

    func streamEnded(_ end: StreamEnd) {
        state.withLock { $0.decoder }?.drain()
        stream?.streamEnded(end)
    }

    private func refuse(_ cause: DropCause) -> FrameDisposition {
        state.withLock { $0.refused[cause] += 1 }
        return .dropped(cause)
    }

    private func decoder(
        for codec: VideoCodec
    ) throws(PipelineError) -> PipelineDecoder {
        if let present = state.withLock({ $0.decoder }) {
            guard present.codec != codec else { return present }
            present.drain()
            present.stop()
            retire(present, lost: present.lostUnits)
        }
        // The decoder retains this object until it is retired.
        let decoder = try PipelineDecoder(codec, to: self)
        let isOver = state.withLock { state in
            state.decoder = decoder
            return state.isOver
        }
        if isOver {
            decoder.stop()
            retire(decoder, lost: decoder.lostUnits)
        }
        warnOfDecoding()
        return decoder
    }

    private func warnOfDecoding() {
        let hasWarned = state.withLock { state in
            defer { state.hasWarned = true }
            return state.hasWarned
        }
        guard !hasWarned else { return }
        run.warn(
            PipelineError(
                .streamFailed,
                message: "the stream \"\(name)\" is encoded: it is decoded for filters and program "
                    + "code, and encoded again for recordings"))
    }

    // MARK: VideoFrameConsumer, for the decoder

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        stream?.receive(frame) ?? .dropped(.closed)
    }

    func sourceDidFail(_ error: any Error) {
        run.fail(
            error as? PipelineError
                ?? PipelineError(.elementFailed, message: "a decoder failed: \(error)"))
    }
}
