package import MediaBasics
internal import Synchronization

/// Records frames into files that remain playable after a crash or a full disk.
///
/// ```swift
/// let source = try PipelineVideoSource("v4l2src ! videoconvert")
/// let recorder = try Recorder("out.mkv")
/// try recorder.start()
/// for try await frame in source.frames() { try await recorder.write(frame) }
/// let report = try await recorder.stop()
/// ```
///
/// A recorder has separate pipelines: an error in it affects no other pipeline. It is a ``VideoSink``
/// and an ``AudioSink``, so an engine can use it as a video sink; the program starts, pauses and stops
/// it at any time. Sources deliver to ``videoInput`` and ``audioInput``; the recording ends when all
/// sources have ended.
///
/// If the process is killed, an mkv loses one frame and an mp4 0.6 s at most: the encoder's output
/// is passed to the kernel at once. ``Recordings/repair(_:to:stallTimeout:)`` restores the duration and the index of such
/// a file.
///
/// A recorder makes one recording, or several in succession (``rearm()``). Thread: any but a
/// streaming thread, except for the calls of ``videoInput`` and ``audioInput``, which any thread may
/// make.
public final class Recorder: Sendable {
    /// The file's path, or the pattern for the names of several files.
    public let path: String
    let configuration: Configuration
    let tracks: [RecordedStream: RecordingTrack]
    let timeline: RecordingTimeline
    /// Measures how long streams wait for each other, and how long nothing is written.
    let clock: any Timeline
    /// When the recorder gave up a disk; `nil` before.
    private let gaveUp = Mutex<Duration?>(nil)
    let inbox: RecordingInbox
    let course: RecordingCourse
    var writer: FileWriter { course.writer }
    let progressState: RecordingProgress
    let hub: EventHub<RecorderEvent>
    let pictures: RecordedPictures?
    let sounds: [RecordedStream: RecordedSound]
    let watch: RecordingWatch
    /// Audio writers wait for the encoder on this queue.
    let writes = SerialQueue(label: "mediabridge.recorder.sound")

    enum Phase { case idle, recording, rearming, stopping }
    let phase = Mutex(Phase.idle)
    /// The rotation that the latest encoded video unit needs.
    let rotation = Mutex(VideoRotation.upright)
    private let result = Latch()
    /// Whether ``start()`` was called.
    let wasStarted = Atomic(false)

    /// Chooses the encoders and loads them and the muxer; opens no file yet. With a pre-roll, frames are kept from here on.
    ///
    /// - Parameters:
    ///   - path: Ends in .mkv, .mp4, .mov, .webm or .ts. ``Configuration/whenExists`` decides what happens
    ///     if the file exists; a file that another recording is writing is an error.
    ///   - configuration: The settings.
    /// - Throws: ``PipelineError``: an unknown extension, a codec that the container does not support,
    ///   an encoder that is not installed, a directory that does not exist, or a file that already
    ///   exists.
    public convenience init(
        _ path: String, configuration: Configuration = Configuration()
    ) throws(PipelineError) {
        try self.init(
            path, configuration: configuration, clock: .system,
            wallClock: configuration.wallClock)
    }

    /// - Parameter clock: Measures how long streams wait for each other, and how long nothing is
    ///   written.
    /// - Parameter wallClock: Gives the dates in names and reports.
    package init(
        _ path: String, configuration: Configuration, clock: any Timeline,
        wallClock: WallClock = WallClock()
    ) throws(PipelineError) {
        try GStreamer.initialize()
        let container: RecordingContainer
        if let given = configuration.container {
            container = given
        } else {
            container = try RecordingContainer(path: path)
        }
        let configuration = configuration.completed(for: path)
        var recipes: [RecordedStream: RecordingRecipe] = [:]
        if var video = configuration.video {
            // A segment begins with a key frame.
            if let length = configuration.segments?.length {
                video.keyFrameInterval = min(video.keyFrameInterval, length)
            }
            recipes[.video] = try RecordingRecipe(video, in: container)
        }
        if let audio = configuration.audio {
            let recipe = try RecordingRecipe(audio, in: container)
            for number in 0..<max(1, configuration.audioTracks) {
                recipes[RecordedStream(.audio, number: number)] = recipe
            }
        }
        let streams = recipes.keys.sorted()
        guard let leader = streams.first else {
            throw PipelineError(
                .badValue, message: "a recording without video and audio",
                advice: "set Configuration.video or Configuration.audio")
        }
        guard streams.count == 1 || container.takesSeveralStreams else {
            throw PipelineError(
                .badValue,
                message: ".\(container.rawValue) holds one stream, not "
                    + streams.map(\.name).joined(separator: ", "),
                advice: "a name that ends in .mkv")
        }
        let names = RecordingNames(
            path, isNumbered: configuration.segments != nil,
            dates: configuration.isDated ? wallClock : nil)
        try names.check(length: configuration.segments?.length, at: wallClock.now())
        try Self.check(names, configuration)
        for (stream, recipe) in recipes { try recipe.load(stream) }
        try container.load()
        let queue = SerialQueue(label: "mediabridge.recorder")
        let progress = RecordingProgress()
        let hub = EventHub<RecorderEvent>()
        let inbox = RecordingInbox(queue: queue, clock: clock)
        let timeline = RecordingTimeline(leader: leader, wallClock: wallClock)
        let tracks = recipes.reduce(into: [RecordedStream: RecordingTrack]()) {
            $0[$1.key] = RecordingTrack(
                $1.key, recipe: $1.value, timeline: timeline, segments: configuration.segments,
                whenFull: configuration.whenFull, inbox: inbox)
        }
        let writer = FileWriter(
            names: names, container: container,
            limits: WritingLimits(
                segments: configuration.segments,
                preRoll: configuration.preRoll ?? configuration.events?.before,
                events: configuration.events, replay: configuration.replay,
                replayMemory: configuration.replayMemory,
                reserve: configuration.reserve, stallTimeout: configuration.stallTimeout,
                whenExists: configuration.whenExists, isFragmented: configuration.isFragmented,
                isDurable: configuration.isDurable),
            timeline: timeline, queue: queue, clock: clock, progress: progress,
            notify: { hub.post($0) })
        if let path = configuration.frameLog {
            writer.frameLog = try FrameLog(path, timeline: timeline) { stream in
                var dropped = progress.update { $0.drops[stream, default: DropCounts()] }
                dropped[.unwritten] += inbox.lost(stream)
                return dropped + (tracks[stream]?.drops ?? DropCounts())
            }
        }
        let course = RecordingCourse(streams, writer)
        inbox.onItems { [inbox] in course.handle(inbox.takeAll()) }
        self.path = path
        self.configuration = configuration
        self.tracks = tracks
        pictures = tracks[.video].map { RecordedPictures($0, configuration.video?.size, clock) }
        sounds = tracks.filter { $0.key.kind == .audio }.mapValues { RecordedSound($0, clock) }
        self.timeline = timeline
        self.clock = clock
        self.inbox = inbox
        self.course = course
        self.progressState = progress
        self.hub = hub
        watch = RecordingWatch(progress: progress, inbox: inbox, clock: clock) {
            hub.post(.stalled($0))
        }
        // If the recording ends by itself, it is completed here, and the end is reported.
        writer.onEnding = { [weak self] in
            tracks.values.forEach { $0.close() }
            guard let self else { return }
            ControlTask.start { await self.complete() }
        }
        if configuration.keepsUnits { tracks.values.forEach { $0.open() } }
    }

    /// Completes a recording that was not stopped, in the background.
    deinit {
        let (tracks, inbox, writer) = (self.tracks, self.inbox, self.writer)
        let stallTimeout = configuration.stallTimeout
        guard phase.withLock({ $0 }) != .stopping else { return }
        ControlTask.start {
            tracks.values.forEach { $0.close() }
            for track in tracks.values { try? await track.finish(stallTimeout: stallTimeout) }
            _ = await writer.untilDone(within: stallTimeout)
            inbox.close()
        }
    }

    /// Throws if the file cannot or must not be written.
    private static func check(
        _ names: RecordingNames, _ configuration: Configuration, isFirst: Bool = true
    ) throws(PipelineError) {
        let path = names.path
        guard !names.isDated else { return try DiskSpace.check(below: names.directory) }
        try DiskSpace.check(path)
        guard isFirst, configuration.segments == nil else { return }
        switch configuration.whenExists {
        case .fail: try FileSize.requireNone(at: path)
        case .overwrite: if FileSize.of(path) != nil { try FileSize.requireUnread(path) }
        case .number: break
        }
    }

    // MARK: Course

    /// Begins the file: with the pre-roll if there is one, otherwise with the next frame.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/invalidState`` if it was started
    ///   before.
    public func start() throws(PipelineError) {
        if phase.withLock({ $0 == .idle }) {
            try Self.check(
                writer.names, configuration, isFirst: progressState.update { !$0.hasBegun })
        }
        let isFirst = phase.withLock { phase in
            guard phase == .idle else { return false }
            phase = .recording
            return true
        }
        guard isFirst else {
            throw progressState.failure
                ?? PipelineError(
                    .invalidState, message: "this recorder was already started",
                    advice: "create a recorder for each recording, or end one with rearm()")
        }
        wasStarted.store(true, ordering: .relaxed)
        // A pause that the recording before did not end.
        timeline.resume()
        tracks.values.forEach { $0.open() }
        inbox.put(.start(at: tracks[course.streams[0]]?.last))
        watch.begin()
    }

    /// Pauses the recording from the next frame on. The time in the file does not advance during a
    /// pause. Does nothing while it is not recording; a recording begins without a pause.
    public func pause() {
        guard phase.withLock({ $0 }) == .recording else { return }
        timeline.pause()
        hub.post(.paused)
    }

    /// Resumes the recording with the next frame, without a gap in the file's time.
    public func resume() {
        timeline.resume()
        hub.post(.resumed)
    }

    /// Marks the last frame that was handed over: it becomes a chapter of its file, and a ring keeps
    /// that file (``RecordingSegments``). The report has the marks of each file.
    ///
    /// Matroska and WebM files have all chapters, an mp4 the first 255; an mp4 with fragments and a
    /// transport stream have none. Returns at once. Thread: any.
    ///
    /// - Parameter name: The name of the chapter.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/invalidState`` if it is not recording.
    public func mark(_ name: String) throws(PipelineError) {
        try requireRecording()
        inbox.put(.mark(name, at: tracks.values.compactMap(\.last).max() ?? .zero))
    }

    /// Begins the next file with the next key frame, which an encoder gives at once; no frame is
    /// lost. Its name has the next number, or its date. Returns at once; does nothing before the first
    /// frame. Thread: any.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/invalidState`` if it is not recording.
    public func split() throws(PipelineError) {
        try requireRecording()
        guard let leader = tracks[course.streams[0]], let last = leader.last else { return }
        leader.requestKeyFrame()
        inbox.put(.split(after: last))
    }

    func requireRecording() throws(PipelineError) {
        if phase.withLock({ $0 }) != .recording { throw notRecording }
    }

    private var notRecording: PipelineError {
        progressState.failure
            ?? PipelineError(
                .invalidState, message: "this recorder is not recording", advice: "start it first")
    }

    /// Ends the recording: every frame taken is written, and the files are completed. A second call
    /// gives the same result.
    ///
    /// - Returns: The final counts.
    /// - Throws: ``PipelineError``: the error that made it fail, now or before, although the files
    ///   may be intact up to that point; ``PipelineError/Code/deadlineExceeded`` if the disk is
    ///   stuck, or too slow for the frames that wait at the end: these are counted as unwritten.
    @discardableResult
    public func stop() async throws(PipelineError) -> RecorderReport {
        progressState.end(.stop)
        await complete()
        let report = self.report
        if let failure = report.failure { throw failure }
        return report
    }

    /// Returns whether a stream is recorded.
    func takes(_ stream: RecordedStream) -> Bool { tracks[stream] != nil }

    /// Ends one stream; the recording ends with the last stream. Returns at once.
    func end(_ stream: RecordedStream) {
        if stream == .video { pictures?.end() } else { sounds[stream]?.end() }
        guard tracks[stream]?.close() == true, tracks.values.allSatisfy(\.isClosed) else { return }
        progressState.end(.eos)
        ControlTask.start { [self] in await complete() }
    }

    /// Handles the failure of a source: frames taken so far are written, and the files are
    /// completed. Returns at once.
    func fail(_ error: any Error) {
        let failure =
            error as? PipelineError ?? PipelineError(.streamFailed, message: "\(error)")
        if progressState.fail(failure) { hub.post(.failed(failure)) }
        ControlTask.start { [self] in await complete() }
    }

    /// Replaces nothing that is missing before the next frame of its stream.
    private func endReplacing() {
        pictures?.end()
        sounds.values.forEach { $0.end() }
    }

    private func complete() async {
        let before = phase.exchange(.stopping)
        guard before != .stopping else {
            _ = await result.wait()
            return
        }
        endReplacing()
        tracks.values.forEach { $0.close() }
        let stallTimeout = configuration.stallTimeout
        let delivered = limitWaiting()
        for stream in course.streams {
            guard let track = tracks[stream] else { continue }
            do throws(PipelineError) {
                let hasGivenUp = gaveUp.withLock { $0 != nil }
                try await track.finish(stallTimeout: hasGivenUp ? .milliseconds(200) : stallTimeout)
            } catch {
                if error.code == .deadlineExceeded { giveUp(since: delivered) }
            }
        }
        await completeFiles(since: delivered)
        watch.end()
        inbox.close()
        if before == .recording { reportEmptyRecording() }
        if configuration.frameLog != nil {
            let report = self.report
            _ = await writer.queue.outcome(within: .seconds(1), on: .system) { [writer] in
                writer.log { $0.finish(report) }
            }
        }
        hub.finish(with: .finished(report))
        result.open()
    }

    /// Waits until every file is complete, and gives up if nothing is written for too long. A disk that was
    /// given up has a limited time to complete what it has got.
    private func completeFiles(since delivered: Int) async {
        var (seen, moved) = (progressState.written, clock.now)
        while await !writer.untilDone(within: .milliseconds(500)) {
            let (written, now) = (progressState.written, clock.now)
            if written != seen { (seen, moved) = (written, now) }
            if let since = gaveUp.withLock({ $0 }) {
                guard now - since < Self.completionLimit, now - max(moved, since) < Self.waitLimit
                else { return }
            } else if now - moved > configuration.stallTimeout {
                giveUp(since: delivered)
            }
        }
    }

    /// How long a disk that was given up may take to complete the files, and may write nothing.
    private static let completionLimit = Duration.seconds(30).asDefaultDeadline
    private static let waitLimit = Duration.seconds(5)

    /// Reports an error if the recording ended without a file, or without the video that came.
    private func reportEmptyRecording() {
        let (hasFailed, hasNoFile) = progressState.update { ($0.failure != nil, $0.hasNoFile) }
        let report = self.report
        guard !hasFailed, configuration.events == nil, hasNoFile || report.lacksVideo else {
            return
        }
        let offered = report.tracks.map(\.offered).max() ?? 0
        let failure =
            hasNoFile
            ? PipelineError.nothingRecorded(
                path, offered: offered, dropped: report.tracks.first?.losses)
            : PipelineError.noVideoRecorded(path, report.video)
        if progressState.fail(failure) { hub.post(.failed(failure)) }
    }

    /// Gives up the units that wait for the disk for ``drainLimit`` from now on.
    ///
    /// - Returns: What was delivered before.
    private func limitWaiting() -> Int {
        let delivered = progressState.delivered
        watch.limitWaiting(to: drainLimit) { [weak self] in self?.giveUp(since: delivered) }
        return delivered
    }

    /// How long the disk may take for the units that wait at the end.
    private var drainLimit: Duration {
        max(configuration.stallTimeout, Duration.seconds(15).asDefaultDeadline)
    }

    /// Called if the disk does not respond, or is too slow: reports the error, unblocks all waiting threads,
    /// and discards what waits.
    ///
    /// - Parameter delivered: What had been delivered when the recording ended.
    private func giveUp(since delivered: Int) {
        let now = clock.now
        let isFirst = gaveUp.withLock { gaveUp in
            defer { gaveUp = gaveUp ?? now }
            return gaveUp == nil
        }
        guard isFirst else { return }
        let error =
            progressState.delivered != delivered
            ? PipelineError.tooSlow(path, frames: report.video?.unwritten, drainLimit)
            : PipelineError.stuck(path, configuration.stallTimeout)
        if progressState.fail(error) { hub.post(.failed(error)) }
        progressState.update { $0.unfinished }.forEach { $0.abandon() }
        inbox.abandon()
        tracks.values.forEach { $0.abandon() }
        inbox.put(.flush)
    }
}

// MARK: - Several recordings

extension Recorder {
    /// Ends this recording and prepares the recorder for the next one: for events that get a file
    /// each.
    ///
    /// When this returns, the file is complete and contains every frame handed over before the
    /// call. Frames may continue to be handed over: with a pre-roll, the very next frame is its
    /// first, so that no frame is missing between two files and none is in both. ``start()`` begins
    /// the next file, whose name has a number: `out.mkv`, `out-00001.mkv` …. ``events`` continue;
    /// ``stop()`` ends the recorder.
    ///
    /// - Returns: The counts of all recordings so far, ended by ``RecorderReport/End/stop``.
    /// - Throws: ``PipelineError``: the error that made the recording fail, which ends the recorder
    ///   as well; ``PipelineError/Code/invalidState`` if it is not recording;
    ///   ``PipelineError/Code/noFrames`` if nothing was recorded, although the recorder is prepared
    ///   again.
    @discardableResult
    public func rearm() async throws(PipelineError) -> RecorderReport {
        let isRecording = phase.withLock { phase in
            guard phase == .recording else { return false }
            phase = .rearming
            return true
        }
        guard isRecording else { throw notRecording }
        let keeps = configuration.keepsUnits
        let cut = RecordingCut(tracks.compactMapValues { $0.cut(continues: keeps) })
        if !keeps {
            endReplacing()
        }
        inbox.put(.cut(cut))
        await complete(cut)
        let isArmed = phase.withLock { phase in
            if phase == .rearming { phase = .idle }
            return phase == .idle
        }
        if let failure = progressState.failure { throw failure }
        guard isArmed else { return report }
        if progressState.update({ $0.endRecording() }) == 0, configuration.events == nil {
            throw .nothingRecorded(path, offered: 0, dropped: nil)
        }
        var report = report
        report.ended = .stop
        return report
    }

    /// Waits for the file to be complete. A stream that makes no progress delays it by at most 1 s.
    private func complete(_ cut: RecordingCut) async {
        let moment = min(configuration.stallTimeout, .seconds(1))
        if await cut.done.wait(for: moment, on: clock) { return }
        inbox.put(.endCut)
        let delivered = limitWaiting()
        defer { watch.endLimit() }
        var seen = progressState.written
        while await !cut.done.wait(for: configuration.stallTimeout) {
            let now = progressState.written
            guard now != seen else {
                giveUp(since: delivered)
                break
            }
            seen = now
        }
        if gaveUp.withLock({ $0 != nil }) { await complete() }
    }
}

// MARK: - Settings

extension Recorder {
    /// The settings of a recorder; the defaults suit a single file of video without audio.
    public struct Configuration: Sendable {
        /// How video is encoded; `nil`: no video is recorded.
        public var video: VideoEncoding? = VideoEncoding()
        /// How audio is encoded; `nil`: no audio is recorded. The beginning of a file is delayed
        /// until the first audio arrives, for live streams by two seconds at most.
        ///
        /// Default `nil`; a file of audio only (`.m4a`, `.ogg`, `.flac`, `.wav`) has audio and no video by default.
        public var audio: AudioEncoding?
        /// The number of audio tracks of a recording with ``audio``, at least 1; a .flac or .wav has one. Default 1.
        public var audioTracks = 1
        /// The container; `nil`, the default: by the file name's extension.
        package var container: RecordingContainer?
        /// The duration of encoded data that is kept in memory from the first frame on, and that
        /// the file begins with. It is a minimum: a file begins with a key frame, so up to
        /// ``VideoEncoding/keyFrameInterval`` more may be included; less is included only if less
        /// was handed over. `nil`: the file begins with the first frame after ``Recorder/start()``.
        public var preRoll: Duration?
        /// Records only around events; `nil`, the default: from the start to the stop.
        package var events: RecordedEvents?
        /// The duration of encoded data that is kept in memory for ``Recorder/saveReplay(_:last:)``,
        /// from the first frame on, whether the recorder was started or not; `nil`, the default:
        /// nothing is kept. With it, a file begins with the last key frame before
        /// ``Recorder/start()``.
        public var replay: Duration?
        /// The maximum number of bytes that are kept for replays, and for events; beyond it, the oldest frames
        /// are discarded earlier. Default 256 MB: 30 s at 68 Mbit/s.
        public var replayMemory = 256_000_000
        /// How to divide the recording; `nil`: one file, and a new one only if the size or the
        /// format of the pictures changes.
        public var segments: RecordingSegments?
        /// What happens if a file with the recording's name exists. Default `fail`. Segments and later files have
        /// numbered names. The numbers continue after those of existing files, so these names never collide.
        public var whenExists = WhenExists.fail
        /// Whether conversions such as `%Y` and `%H` in the path are replaced by the time when a file's first
        /// picture was captured. Default false: the path is literal.
        ///
        /// `cam-%Y%m%d/%H%M%S.mkv` becomes `cam-20260131/142536.mkv`. Missing directories are created. If there
        /// is a file of this name already, because the clock was set back or summer time ended, a number is
        /// added; no file is overwritten.
        ///
        /// Conversions are those of `strftime`: Y y G m V d j u H M S f (microseconds) s z, and `%%`. A path
        /// without a percent sign is literal in any case.
        public var isDated = false
        /// Whether dates, and the times at which ``RecordingSegments/isAligned`` files end, are those of
        /// Coordinated Universal Time. Default false: of the system's time zone.
        public var isUTC = false
        var wallClock: WallClock { WallClock(zone: isUTC ? "UTC" : nil) }
        /// A file to which a line of JSON is appended for each encoded frame that is passed to the
        /// muxer; `nil`, the default: none. The keys of a line:
        ///
        /// | `type` | Further keys |
        /// | --- | --- |
        /// | `frame` | `stream`, `file`, `index` in its stream of the file, `time` in the file in seconds, `wall`: when it was captured, `key`, `bytes` |
        /// | `gap` | `stream`, `file`, `time` and `wall` of its beginning, `seconds`, `cause` |
        /// | `drop` | `stream`, `cause` (``DropCause``), `count`, `wall`: when it was noticed |
        /// | `mark` | `name`, `file`, `time`, `wall` |
        ///
        /// The cause of a gap is that of the drops before it, or `source` if there were none.
        /// Capture times are those of the source's clock if it is known
        /// (``LiveTiming/wallClockOrigin``) and differs by less than a minute from this machine's.
        public var frameLog: String?
        /// Whether a finished mp4 keeps its fragments, for servers that stream it unchanged. Default
        /// false: it gets one index and no fragments, which every editor opens.
        public var isFragmented = false
        /// Whether a power failure costs at most the last second: files, and the directories that are
        /// created for them, are flushed to the disk four times a second while they are written, on a
        /// separate thread, and again before they are reported as complete. An error of the disk
        /// ends the recording. Pipes and devices are not flushed. Default false: the kernel decides
        /// when data reaches the disk, usually within 30 s.
        public var isDurable = false
        /// What happens to a frame if the encoder, or the disk, is slow. Default `automatic`: for a
        /// live capture the oldest queued frame is evicted and counted; any other caller waits.
        public var whenFull = WhenFull.automatic
        /// How long ``Recorder/stop()`` waits while nothing is written before it reports that the
        /// disk is stuck. Default 10 s.
        public var stallTimeout = Duration.seconds(10).asDefaultDeadline
        /// Ends the recording if the disk has fewer than this many bytes free, in addition to those
        /// that the file's index needs; 0: never. Default 4 MB.
        public var reserve = 4_000_000

        /// Whether units are kept while the recorder is not recording.
        var keepsUnits: Bool { preRoll != nil || replay != nil || events != nil }

        /// Creates a configuration with the defaults.
        public init() {}

        /// Returns the configuration with the defaults of a file of this name.
        func completed(for path: String) -> Configuration {
            guard RecordingContainer.isOfSound(path: path), video?.requested == nil else {
                return self
            }
            var configuration = self
            configuration.video = nil
            configuration.audio = audio ?? AudioEncoding()
            return configuration
        }
    }
}
