internal import MediaBasics
internal import Synchronization

/// The branch of a stream that leads to its detectors, beside the outputs. Encoded pictures are decoded for it.
///
/// Of a live stream, it blocks nothing: what the decoder or a detector has no room for is dropped and counted. Any
/// other stream waits, so that a file gives the same events each time.
final class StreamAnalysis: VideoFrameConsumer {
    private struct State {
        var decoder: PipelineDecoder?
        var chain = ReferenceChain()
        /// Units that gave no picture, by cause.
        var lost = DropCounts()
        /// Whether nothing is decoded any more.
        var isOver = false
    }
    private let runs: [DetectorRun]
    private let pictures: [DetectorRun]
    /// Whether only key frames are decoded.
    private let keyFramesOnly: Bool
    /// Runs the detectors.
    private let queue = SerialQueue(label: "mediabridge.analysis")
    /// Creates the decoder, and waits for it.
    private let decoding = SerialQueue(label: "mediabridge.analysis.decode")
    private let units = Mutex<Mailbox<EncodedVideoFrame>?>(nil)
    private let state = Mutex(State())
    /// Ends the analysis.
    private let ending = SerialQueue(label: "mediabridge.analysis.end")
    private let isFinished = Atomic(false)
    /// Delivered when the detectors have seen everything, or are not waited for any more.
    private let hasSeenAll = Once<Bool>()
    private let hasEnded = Latch()

    /// How long the end of a live stream, and of a run, waits for detectors that are busy.
    private static let liveLimit = Duration.seconds(3).asDefaultDeadline
    private static let endLimit = Duration.seconds(60).asDefaultDeadline

    init(_ detectors: [StreamDetector], of stream: String, to detection: Detection) {
        let queue = queue
        runs = detectors.map { DetectorRun(DetectorWork($0, of: stream, to: detection), on: queue) }
        pictures = runs.filter { $0.work.analysis != nil }
        keyFramesOnly = pictures.allSatisfy { $0.work.analysis?.keyFramesOnly == true }
        guard !pictures.isEmpty else { return }
        let mailbox = Mailbox<EncodedVideoFrame>(
            depth: ReferenceChain.maximumWaiting, on: decoding, of: .system
        ) { [weak self] in self?.decode($0) }
        units.withLock { $0 = mailbox }
    }

    /// The counts of the detectors, by their names.
    var counts: [String: StreamCounts] {
        let lost = state.withLock { state in
            var lost = state.lost
            lost[.undecodable] += state.decoder?.lostUnits ?? 0
            return lost
        }
        return runs.reduce(into: [:]) { counts, run in
            counts[run.work.name] = run.work.counts(
                with: run.work.analysis == nil ? DropCounts() : lost)
        }
    }

    // MARK: Media

    /// Whether a detector is to see the picture of this time.
    func wants(_ time: MediaTime?) -> Bool { pictures.contains { $0.wants(time) } }

    /// Shows a picture to the detectors for which it is due.
    func look(at frame: VideoFrame) {
        let isLive = frame.liveTiming != nil
        for run in pictures { run.offer(.picture(frame), at: frame.runningTime, isLive: isLive) }
    }

    /// Gives the detectors audio, or an encoded frame.
    func look(at sample: MediaSample) {
        guard !sample.isHeader else { return }
        let isLive = sample.liveTiming != nil
        if sample.caps.isEncodedPictures {
            if keyFramesOnly, sample.buffer.isDelta || !wants(sample.runningTime) { return }
            guard let mailbox = units.withLock({ $0 }) else { return }
            let unit = EncodedVideoFrame(sample, rotation: .upright)
            // A unit that others refer to is not evicted.
            let limit = isLive ? Duration.zero : .seconds(1 << 30)
            if mailbox.post(unit, whenFull: .wait(atMost: limit)) == .full { lose(.queueFull) }
        } else if sample.caps.isSound {
            for run in runs where run.work.analysis == nil {
                let media = sample.audioFrame.map { .sound($0) } ?? DetectorMedia.unit(sample)
                run.offer(media, at: sample.runningTime, isLive: isLive)
            }
        }
    }

    /// Notes that units are missing from here on to the next.
    func streamWasInterrupted() { state.withLock { _ = $0.chain.lose() } }

    // MARK: The end

    /// Ends the detectors when they have seen everything, also what the decoder holds back. Blocks until then, also if
    /// it was called before.
    ///
    /// - Parameter isLive: Whether it gives up detectors that need more than three seconds for that.
    func finish(isLive: Bool) {
        ending.sync { finishOnce(within: isLive ? Self.liveLimit : nil) }
    }

    private func finishOnce(within limit: Duration?) {
        guard !isFinished.exchange(true, ordering: .relaxed) else { return }
        if let limit { hasSeenAll.expire(after: limit) }
        units.withLock { $0 }?.close()
        decoding.async { [self] in
            state.withLock { $0.decoder }?.drain()
            runs.forEach { $0.close() }
            queue.async { [hasSeenAll] in hasSeenAll.resume(true) }
        }
        _ = hasSeenAll.wait()
        runs.forEach {
            $0.close()
            $0.work.end()
        }
        state.withLock { $0.isOver = true }
        stopDecoder()
        hasEnded.open()
    }

    /// Ends the detectors at the end of the run.
    ///
    /// - Parameter isHurried: Whether it gives up busy detectors after three seconds, not after a minute.
    func end(isHurried: Bool) async {
        let limit = isHurried ? Self.liveLimit : Self.endLimit
        ending.async { self.finishOnce(within: limit) }
        if await hasEnded.wait(for: limit) { return }
        runs.forEach { $0.close() }
        hasSeenAll.resume(false)
        if await !hasEnded.wait(for: Self.liveLimit) { runs.forEach { $0.work.end() } }
    }

    // MARK: Decoding

    /// Thread: the queue of the decoder.
    private func decode(_ unit: EncodedVideoFrame) {
        let (present, isOver) = state.withLock { ($0.decoder, $0.isOver) }
        guard !isOver else { return lose(.closed) }
        do throws(PipelineError) {
            if let present, present.codec != unit.codec {
                present.drain()
                stopDecoder()
            }
            let decoder =
                if let present, present.codec == unit.codec { present } else {
                    try PipelineDecoder(unit.codec, to: self)
                }
            let isOver = state.withLock { state in
                state.decoder = state.isOver ? nil : decoder
                return state.isOver
            }
            if isOver {
                decoder.stop()
                return lose(.closed)
            }
            guard keyFramesOnly || state.withLock({ $0.chain.admits(unit.references) }) else {
                return lose(.needsKeyFrame)
            }
            if case .dropped(let cause) = decoder.decodeWaiting(unit) { lose(cause) }
        } catch {
            lose(.undecodable)
            pictures.forEach { $0.work.end(because: error) }
        }
    }

    private func lose(_ cause: DropCause) {
        state.withLock { state in
            state.lost[cause] += 1
            _ = state.chain.lose()
        }
    }

    private func stopDecoder() {
        guard let decoder = state.withLock({ $0.decoder.take() }) else { return }
        decoder.stop()
        state.withLock { $0.lost[.undecodable] += decoder.lostUnits }
    }

    // MARK: VideoFrameConsumer, for the decoder

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        look(at: frame)
        return .accepted
    }

    func sourceDidFail(_ error: any Error) {
        let failure =
            error as? PipelineError
            ?? PipelineError(.elementFailed, message: "a decoder failed: \(error)")
        pictures.forEach { $0.work.end(because: failure) }
    }
}
