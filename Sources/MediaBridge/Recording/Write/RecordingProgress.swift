internal import MediaBasics
internal import Synchronization

/// The state of a recording that other threads can read: counts, files and failures.
final class RecordingProgress: Sendable {
    struct State {
        /// In the order in which the files were begun.
        var files: [RecordedFile] { numbered.map(\.file) }
        private var numbered: [(index: Int, file: RecordedFile)] = []
        var current: RecordingFile?
        /// The files that are not complete: the current one, and those before it that are being completed.
        var unfinished: [RecordingFile] = []
        /// Whether no file was completed, and none is being written.
        var hasNoFile: Bool {
            numbered.isEmpty && current == nil && removedBytes == 0
        }
        /// Totals of files that are not in `files` any more.
        var removedDuration = Duration.zero
        var removedBytes = 0
        /// Number of files that a ring removed.
        var removedFiles = 0
        /// Number of lines that the log of frames lacks.
        var missingLines = 0
        var written: [RecordedStream: Int] = [:]
        var drops: [RecordedStream: DropCounts] = [:]
        var failure: PipelineError?
        var ended: RecorderReport.End?
        /// Number of files begun since the last recording ended.
        var begun = 0
        /// Whether any file was begun.
        var hasBegun: Bool { begun > 0 || !hasNoFile }

        /// - Returns: The number of files that the recording began.
        mutating func endRecording() -> Int {
            defer { begun = 0 }
            return begun
        }

        /// What is kept for replays; `nil` if nothing is.
        var replay: (duration: Duration, bytes: Int)?

        /// Number of units passed to a muxer, for watching the progress.
        var moved = 0

        mutating func add(_ file: RecordedFile, at index: Int) {
            numbered.append((index, file))
            numbered.sort { $0.index < $1.index }
        }

        /// Removes a file from the list, and keeps its totals.
        mutating func remove(_ path: String) {
            guard let place = numbered.firstIndex(where: { $0.file.path == path }) else { return }
            let oldest = numbered.remove(at: place).file
            removedBytes += oldest.bytes
            removedDuration += oldest.duration
        }
    }
    private let state = Mutex(State())

    func update<R>(_ body: (inout State) -> R) -> R { state.withLock { body(&$0) } }

    /// Bytes of all files, including removed files.
    var byteCount: Int {
        let (bytes, current) = update { state in
            (state.files.reduce(state.removedBytes) { $0 + $1.bytes }, state.current)
        }
        return bytes + (current?.byteCount ?? 0)
    }

    /// Changes with everything that leaves the queues of the files.
    var delivered: Int {
        let unfinished = update { $0.unfinished }
        return byteCount + unfinished.reduce(0) { $0 + $1.writtenUnits + $1.writes }
    }

    /// Changes as long as anything is written.
    var written: Int { update { $0.moved } + delivered }

    /// The first error.
    var failure: PipelineError? { state.withLock { $0.failure } }

    func drop(_ unit: EncodedUnit, _ cause: DropCause) {
        state.withLock { $0.drops[unit.stream, default: DropCounts()][cause] += 1 }
    }

    /// Notes an error, unless there is one already.
    ///
    /// - Returns: Whether it is the first.
    func fail(_ error: PipelineError) -> Bool {
        state.withLock { state in
            guard state.failure == nil else { return false }
            state.failure = error
            state.ended = .error
            return true
        }
    }

    /// Notes the reason for the end. Only the first one counts.
    func end(_ reason: RecorderReport.End) {
        state.withLock { if $0.ended == nil { $0.ended = reason } }
    }
}

// MARK: - Stalls

/// Measures twice a second how fast a recording is written, and reports a stall: data is queued,
/// but nothing is written.
final class RecordingWatch: Sendable {
    private struct State {
        var heartbeat: Heartbeat?
        /// The longest time that units may still wait for the disk, and what happens then; `nil`: any time.
        var limit: (rest: Duration, onEnd: @Sendable () -> Void)?
        var last = Duration.zero
        var moved = Moved()
        var since = Duration.zero
        var isReported = false
        /// Byte counts at the last checks, for the rate.
        var sizes: [(bytes: Int, time: Duration)] = []
    }
    /// Does not change while nothing is written. The units that a file's queue accepts do not
    /// count: it accepts some for a while after the disk has stopped. One unit may take several writes.
    private struct Moved: Equatable {
        var file = -1
        var units = -1
        var bytes = -1
    }
    private let state = Mutex(State())
    private let progress: RecordingProgress
    private let inbox: RecordingInbox
    private let clock: any Timeline
    private let notify: @Sendable (Duration) -> Void
    private static let queue = SerialQueue(label: "mediabridge.stalls")
    private static let limit = Duration.seconds(2)
    private static let looks = 5
    /// Number of units that may normally wait in a file's queue for another stream's units.
    private static let usual = 8

    init(
        progress: RecordingProgress, inbox: RecordingInbox, clock: any Timeline,
        notify: @escaping @Sendable (Duration) -> Void
    ) {
        self.progress = progress
        self.inbox = inbox
        self.clock = clock
        self.notify = notify
    }

    func begin() {
        let heartbeat = Heartbeat(every: .milliseconds(500), on: Self.queue, of: clock) {
            [weak self] in self?.look()
        }
        state.withLock { ($0.heartbeat, $0.since, $0.last) = (heartbeat, clock.now, clock.now) }
    }

    func end() { state.withLock { $0.heartbeat = nil } }

    /// Calls `onEnd` once when units have waited for the disk for `limit` in total from now on. An encoder that
    /// is slow, and an index that is written, take as long as they need.
    func limitWaiting(to limit: Duration, _ onEnd: @escaping @Sendable () -> Void) {
        state.withLock { $0.limit = (limit, onEnd) }
    }

    func endLimit() { state.withLock { $0.limit = nil } }

    /// Bytes per second, over approximately the last two seconds.
    var rate: Double {
        state.withLock { state in
            guard let first = state.sizes.first, let last = state.sizes.last else { return 0 }
            let seconds = MediaTime(last.time - first.time).seconds
            return seconds > 0 ? Double(max(0, last.bytes - first.bytes)) / seconds : 0
        }
    }

    private func look() {
        let (bytes, now) = (progress.byteCount, clock.now)
        state.withLock { state in
            state.sizes.append((bytes, now))
            if state.sizes.count > Self.looks { state.sizes.removeFirst() }
        }
        let (units, file, unfinished) = progress.update { ($0.moved, $0.current, $0.unfinished) }
        let moved = Moved(
            file: file?.index ?? -1, units: file?.writtenUnits ?? units,
            bytes: file?.byteCount ?? -1)
        let waits = inbox.isFilling || unfinished.contains { $0.isHeldUp(beyond: Self.usual) }
        let onEnd = state.withLock { state -> (@Sendable () -> Void)? in
            defer { state.last = now }
            guard waits, let limit = state.limit else { return nil }
            state.limit?.rest -= now - state.last
            guard limit.rest > .zero, now - state.last >= limit.rest else { return nil }
            return limit.onEnd
        }
        onEnd?()
        let stalled = state.withLock { state -> Duration? in
            if moved != state.moved || !waits {
                state.moved = moved
                state.since = now
                state.isReported = false
                return nil
            }
            let stalled = now - state.since
            guard stalled >= Self.limit, !state.isReported else { return nil }
            state.isReported = true
            return stalled
        }
        if let stalled { notify(stalled) }
    }
}
