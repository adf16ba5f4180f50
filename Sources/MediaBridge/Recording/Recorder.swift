internal import MediaBasics
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
/// Killed, a process loses one frame of an mkv and 0.6 s of an mp4 at most: what the encoder gave is with the
/// kernel at once. ``RecordingRepair`` gives such a file its duration and index back.
///
/// One recording for each recorder, or several one after the other (``stopAndRearm()``). Thread: any but a streaming thread, except for the two ``consume(_:)``,
/// which any thread may call.
public final class Recorder: Sendable {
    /// The file, or what the names of several are made from.
    public let path: String
    let configuration: Configuration
    let recipes: [RecordingKind: EncoderRecipe]
    let tracks: [RecordingKind: RecordingTrack]
    private let timeline: RecordingTimeline
    let inbox: RecordingInbox
    let writer: RecordingWriter
    let progressState: RecordingProgress
    let listeners: RecorderListeners
    let pictures: RecordedPictures?
    let sound: RecordedSound?
    let watch: RecordingWatch

    enum Phase { case idle, recording, rearming, stopping }
    let phase = Mutex(Phase.idle)
    private let result = Latch()

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
        let queue = SerialQueue(label: "mediabridge.recorder")
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
        let tracks = recipes.reduce(into: [RecordingKind: RecordingTrack]()) {
            $0[$1.key] = RecordingTrack(
                $1.key, recipe: $1.value, timeline: timeline, waits: waits, inbox: inbox)
        }
        let ending = RecordingEnd(of: tracks)
        let writer = RecordingWriter(
            path: path, container: container, kinds: kinds,
            limits: WritingLimits(
                segments: configuration.segments, preRoll: configuration.preRoll,
                reserve: configuration.reserve, patience: configuration.patience),
            queue: queue, progress: progress, tell: { listeners.tell($0) },
            onEnding: { ending.begin() })
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
        self.progressState = progress
        self.listeners = listeners
        watch = RecordingWatch(progress: progress, inbox: inbox) { listeners.tell(.stalled($0)) }
        if configuration.preRoll != nil { tracks.values.forEach { $0.open() } }
        // What ends by itself is completed by itself, and says so.
        ending.onBegin { [weak self] in
            guard let self else { return }
            ControlTask.start { await self.complete() }
        }
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
            throw progressState.update { $0.failure }
                ?? PipelineError(
                    .invalidState, message: "this recording was started before",
                    advice: "make a recorder for each recording, or end one with stopAndRearm()")
        }
        try DiskSpace.check(path)
        tracks.values.forEach { $0.open() }
        inbox.start()
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

    /// Whether a stream of the kind is recorded.
    func takes(_ kind: RecordingKind) -> Bool { tracks[kind] != nil }

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

    func complete() async {
        let before = phase.withLock { phase in
            defer { phase = .stopping }
            return phase
        }
        guard before != .stopping else {
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
        if await !untilDone(patience: isStuck ? .seconds(3) : patience) {
            if !isStuck { giveUp() }
            _ = await writer.untilDone(within: .seconds(4))
        }
        watch.end()
        inbox.close()
        if before == .recording { noteNothing() }
        listeners.finish(with: report)
        result.open()
    }

    /// An end without a file is no success.
    private func noteNothing() {
        guard progressState.update({ $0.failure == nil && $0.hasNoFile }) else { return }
        let report = self.report
        let offered = max(report.video?.offered ?? 0, report.audio?.offered ?? 0)
        let failure = PipelineError.nothingRecorded(
            path, offered: offered, dropped: report.video?.dropped ?? report.audio?.dropped)
        if progressState.fail(failure) { listeners.tell(.failed(failure)) }
    }

    /// - Parameter patience: How long it may take without anything being written.
    private func untilDone(patience: Duration) async -> Bool {
        var seen = progressState.written
        while await !writer.untilDone(within: patience) {
            let now = progressState.written
            guard now != seen else { return false }
            seen = now
        }
        return true
    }

    /// The disk does not answer: whoever waits for it is let go of.
    func giveUp() {
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
        inbox.flush()
    }
}
