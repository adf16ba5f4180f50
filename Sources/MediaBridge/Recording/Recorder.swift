internal import Dispatch
internal import Synchronization

/// Records frames into files that can be played whatever happens.
///
/// ```swift
/// let recorder = try Recorder("out.mkv")
/// try recorder.start()
/// for try await frame in source.frames() { try await recorder.write(frame) }
/// let report = try await recorder.stop()
/// ```
///
/// A recorder has pipelines of its own: what fails in it fails nowhere else. It is a ``VideoSink`` and an
/// ``AudioSink``, so an engine may have it as a renderer; start, pause and stop stay with the program and
/// may come while everything runs. Sources deliver to ``videoInput`` and ``audioInput``, which end the
/// recording where they end.
///
/// Killed, a process loses one frame of an mkv and half a second of an mp4: what the encoder gave is with
/// the kernel at once. ``RecordingRepair`` gives such a file its duration and index back.
///
/// One recording for each recorder. Thread: any but a streaming thread, except for the two ``consume(_:)``,
/// which any thread may call.
public final class Recorder: VideoSink, AudioSink, Sendable {
    /// The file, or what the names of several are made from.
    public let path: String
    private let configuration: Configuration
    private let recipes: [RecordingKind: EncoderRecipe]
    private let tracks: [RecordingKind: RecordingTrack]
    private let timeline: RecordingTimeline
    private let inbox: RecordingInbox
    private let writer: RecordingWriter
    private let queue: DispatchQueue
    private let progressState: RecordingProgress
    private let listeners: RecorderListeners
    private let pictures: RecordedPictures?
    private let sound: RecordedSound?
    private let watch: StallWatch

    private enum Phase { case idle, recording, stopping }
    private let phase = Mutex(Phase.idle)
    private let result = Latch()
    private let stuck = Mutex<PipelineError?>(nil)

    /// Chooses the encoders; opens nothing yet. Where a pre-roll is asked for, frames are kept from here
    /// on.
    ///
    /// - Parameter path: Ends in .mkv, .mp4, .webm or .ts. A file of that name is overwritten.
    /// - Throws: ``PipelineError``: an ending nobody knows, a codec that the container does not hold, an
    ///   encoder that is not installed, a directory that is not there.
    public init(
        _ path: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        try GStreamer.initialize()
        let container = try RecordingContainer(path: path)
        var recipes: [RecordingKind: EncoderRecipe] = [:]
        if let video = configuration.video {
            recipes[.video] = try EncoderRecipe(video, in: container)
        }
        if let audio = configuration.audio {
            recipes[.audio] = try EncoderRecipe(audio, in: container)
        }
        let kinds = RecordingKind.allCases.filter { recipes[$0] != nil }
        guard let leader = kinds.first else {
            throw PipelineError(
                .badValue, message: "a recording of neither pictures nor sound",
                advice: "set Configuration.video or Configuration.audio")
        }
        try DiskSpace.check(path)
        let queue = DispatchQueue(label: "mediabridge.recorder")
        let progress = RecordingProgress()
        let listeners = RecorderListeners()
        let inbox = RecordingInbox(queue: queue)
        let timeline = RecordingTimeline(leader: leader)
        let waits: Bool? =
            switch configuration.whenFull {
            case .automatic: nil
            case .evictOldest: false
            case .wait: true
            }
        let tracks = recipes.mapValues { $0 }.reduce(into: [RecordingKind: RecordingTrack]()) {
            $0[$1.key] = RecordingTrack(
                $1.key, recipe: $1.value, timeline: timeline, waits: waits, inbox: inbox)
        }
        let writer = RecordingWriter(
            path: path, container: container, kinds: kinds, configuration: configuration,
            queue: queue, progress: progress, tell: { listeners.tell($0) },
            onEnding: { tracks.values.forEach { $0.close() } })
        inbox.onItems { [inbox] in writer.handle(inbox.takeAll()) }
        self.path = path
        self.configuration = configuration
        self.recipes = recipes
        self.tracks = tracks
        pictures = tracks[.video].map { RecordedPictures($0) }
        sound = tracks[.audio].map { RecordedSound($0) }
        self.timeline = timeline
        self.inbox = inbox
        self.writer = writer
        self.queue = queue
        self.progressState = progress
        self.listeners = listeners
        watch = StallWatch(progress: progress, inbox: inbox) { listeners.tell(.stalled($0)) }
        if configuration.preRoll != nil { tracks.values.forEach { $0.open() } }
    }

    /// A recording that nobody stops is completed nevertheless, in the background.
    deinit {
        let (tracks, inbox, writer) = (self.tracks, self.inbox, self.writer)
        let patience = configuration.patience
        guard phase.withLock({ $0 }) != .stopping else { return }
        ControlTask.start {
            tracks.values.forEach { $0.close() }
            for track in tracks.values { try? await track.finish(patience: patience) }
            _ = await writer.untilDone(within: patience)
            inbox.close()
        }
    }

    // MARK: Course

    /// Begins the file: with what the pre-roll kept, otherwise with the next frame.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/invalidState`` where it was started before.
    public func start() throws(PipelineError) {
        let isFirst = phase.withLock { phase in
            guard phase == .idle else { return false }
            phase = .recording
            return true
        }
        guard isFirst else {
            throw PipelineError(
                .invalidState, message: "this recording was started before",
                advice: "make a recorder for each recording")
        }
        try DiskSpace.check(path)
        tracks.values.forEach { $0.open() }
        queue.async { [writer] in writer.start() }
        watch.begin()
    }

    /// Records nothing from the next frame on. The file's time stands still.
    public func pause() {
        timeline.pause()
        listeners.tell(.paused)
    }

    /// Goes on with the next frame, as if no time had passed.
    public func resume() {
        timeline.resume()
        listeners.tell(.resumed)
    }

    /// Ends the recording: everything that was taken is written, the files are complete. A second call
    /// gives the same result.
    ///
    /// - Throws: ``PipelineError``: what made it fail, now or before, although the files may be whole up
    ///   to there; ``PipelineError/Code/deadlineExceeded`` where the disk is stuck.
    @discardableResult
    public func stop() async throws(PipelineError) -> RecorderReport {
        progressState.end(.stop)
        await complete()
        let report = self.report
        if let failure = report.failure { throw failure }
        return report
    }

    /// Says that one stream has ended; with the last one, the recording has. Returns at once.
    func end(_ kind: RecordingKind) {
        if kind == .video { pictures?.end() }
        guard tracks[kind]?.close() == true, tracks.values.allSatisfy(\.isClosed) else { return }
        progressState.end(.eos)
        ControlTask.start { [self] in await complete() }
    }

    /// A source failed: what was taken is written, and the files are complete. Returns at once.
    func fail(_ error: any Error) {
        let failure =
            error as? PipelineError ?? PipelineError(.streamFailed, message: "\(error)")
        if progressState.fail(failure) { listeners.tell(.failed(failure)) }
        ControlTask.start { [self] in await complete() }
    }

    private func complete() async {
        let isFirst = phase.withLock { phase in
            defer { phase = .stopping }
            return phase != .stopping
        }
        guard isFirst else {
            _ = await result.wait()
            return
        }
        pictures?.end()
        tracks.values.forEach { $0.close() }
        let patience = configuration.patience
        var isStuck = false
        for kind in RecordingKind.allCases {
            guard let track = tracks[kind] else { continue }
            do throws(PipelineError) {
                try await track.finish(patience: isStuck ? .milliseconds(200) : patience)
            } catch {
                if error.code == .deadlineExceeded, !isStuck {
                    isStuck = true
                    giveUp()
                }
            }
        }
        if await !writer.untilDone(within: isStuck ? .seconds(3) : patience + .seconds(3)) {
            if !isStuck { giveUp() }
            _ = await writer.untilDone(within: .seconds(4))
        }
        watch.end()
        inbox.close()
        listeners.finish(with: report)
        result.open()
    }

    /// The disk does not answer: whoever waits for it is let go of.
    private func giveUp() {
        let error = PipelineError(
            .deadlineExceeded,
            message: "the recording is stuck: nothing could be written to \"\(path)\" for "
                + "\(configuration.patience)",
            advice:
                "look for a disk, a pipe or a share that does not answer; what was written stays")
        if progressState.fail(error) { listeners.tell(.failed(error)) }
        progressState.update { $0.current }?.abandon()
        inbox.abandon()
        tracks.values.forEach { $0.abandon() }
        queue.async { [writer] in writer.flush() }
    }

    // MARK: Frames

    /// Hands a picture over; blocks while the encoder is slow, unless the oldest gives way.
    @discardableResult
    public func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        guard let pictures else { return .notEnabled }
        return pictures.consume(frame) { sound?.reach($0) }
    }

    /// Hands sound over; blocks while the encoder is slow, unless the oldest gives way. A gap of up to 10 s
    /// is filled with silence, an overlap cut off.
    @discardableResult
    public func consume(_ frame: consuming AudioFrame) -> FrameDisposition {
        guard let sound else { return .notEnabled }
        return sound.consume(frame) { pictures?.reach($0) }
    }

    /// Hands a picture over; suspends, and blocks no thread, while the encoder is slow.
    ///
    /// - Throws: ``PipelineError``: what made the recording fail, or why it does not take this frame. A
    ///   frame that comes while the recording is paused, or before it starts, is let pass.
    public func write(_ frame: VideoFrame) async throws {
        guard let pictures else { return try check(.notEnabled, "\(frame)") }
        let disposition = try await pictures.write(frame) { sound?.reach($0) }
        try check(disposition, "\(frame)")
    }

    /// What a source of pictures delivers to. Told of the source's end, that stream of the recording ends,
    /// and with the last the recording; told of its failure, the files are completed.
    public var videoInput: any VideoFrameConsumer { RecordingVideoInput(self) }

    /// What a source of sound delivers to; as ``videoInput``.
    public var audioInput: any AudioFrameConsumer { RecordingAudioInput(self) }

    private func check(_ disposition: FrameDisposition, _ frame: @autoclosure () -> String) throws {
        guard case .dropped(let cause) = disposition else { return }
        switch cause {
        case .notStarted, .closed, .paused, .early:
            if let failure = progressState.update({ $0.failure }) { throw failure }
        case .notEnabled:
            throw PipelineError(
                .invalidState, message: "the recording takes no such stream: \(frame())",
                advice: "set Configuration.video or Configuration.audio")
        default:
            throw progressState.update { $0.failure }
                ?? PipelineError(
                    cause == .noTime || cause == .backwards ? .noTime : .streamFailed,
                    message: "the recording refused \(frame()): \(cause)")
        }
    }

    // MARK: VideoSink and AudioSink, for an engine's control thread

    public func bufferType() -> VideoBufferType { .pixelBuffer }

    /// Hands a frame over as ``consume(_:)`` does, and throws where it is not taken. Before
    /// ``start()`` and after ``stop()`` frames are let pass.
    public func render(_ frame: VideoFrame) throws { try check(consume(frame), "\(frame)") }

    public func render(_ frame: AudioFrame) throws { try check(consume(frame), "\(frame)") }

    // Start and stop are the program's.
    public func shouldInitialize() throws -> Bool { true }
    public func shouldStart() throws {}
    public func shouldStop() throws {}
    public func shouldDispose() throws {}

    // MARK: What is known

    /// What happens, from now on. Each caller has a stream of its own, which ends with
    /// ``RecorderEvent/finished(_:)``; a reader that falls more than 256 events behind loses the oldest.
    public var events: AsyncStream<RecorderEvent> { listeners.stream() }

    /// Calls `body` for every event, on the thread that tells it: it must return at once.
    func onEvent(_ body: @escaping @Sendable (RecorderEvent) -> Void) { listeners.onEvent(body) }

    /// The counts so far, and all of them after ``stop()``. Any thread.
    public var report: RecorderReport {
        let isOver = phase.withLock { $0 } == .stopping
        let state = progressState.update { $0 }
        var files = state.files
        if let current = state.current, !isOver || state.failure != nil {
            files.append(
                RecorderReport.File(
                    path: current.path, frames: current.written(.video),
                    duration: current.duration.duration, bytes: current.byteCount,
                    failure: state.failure))
        }
        return RecorderReport(
            files: files, video: track(.video, state, isOver), audio: track(.audio, state, isOver),
            duration: files.map(\.duration).reduce(state.removedDuration, +),
            bytes: files.map(\.bytes).reduce(state.removedBytes, +),
            ended: isOver ? state.ended : nil, failure: state.failure)
    }

    private func track(
        _ kind: RecordingKind, _ state: RecordingProgress.State, _ isOver: Bool
    ) -> RecorderReport.Track? {
        guard let track = tracks[kind], let recipe = recipes[kind] else { return nil }
        let written = state.written[kind, default: 0] + (state.current?.written(kind) ?? 0)
        var drops = track.drops + state.drops[kind, default: DropCounts()]
        drops[.unwritten] += inbox.lost(kind)
        let offered = track.offered
        // What was inside of a file or an encoder that failed.
        let repeated = kind == .video ? pictures?.repeated ?? 0 : 0
        if isOver, kind == .video {
            drops[.unwritten] += max(0, offered + repeated - written - drops.total)
        }
        return RecorderReport.Track(
            codec: recipe.codec, encoder: recipe.element, offered: offered, written: written,
            dropped: drops, repeated: repeated,
            corrections: kind == .audio ? sound?.counts ?? AudioContinuity.Counts() : nil)
    }
}

extension PipelineError {
    /// A recording that ended because the disk would have been full.
    static func nearlyFull(_ free: Int) -> PipelineError {
        PipelineError(
            .noSpaceLeft,
            message:
                "the disk is nearly full (\(free) bytes left): the recording was ended, and its "
                + "file is complete",
            advice: "free some space, or record with a ring of segments")
    }
}
