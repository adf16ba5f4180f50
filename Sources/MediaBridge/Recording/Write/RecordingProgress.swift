internal import Synchronization

/// The state of a recording that other threads can read: counts, files and failures.
final class RecordingProgress: Sendable {
    struct State {
        /// In the order in which the files were begun.
        var files: [RecorderReport.File] { numbered.map(\.file) }
        private var numbered: [(index: Int, file: RecorderReport.File)] = []
        var current: RecordingFile?
        /// Whether no file was completed, and none is being written.
        var hasNoFile: Bool {
            numbered.isEmpty && current == nil && removedBytes == 0
        }
        /// Totals of files that are not in `files` any more.
        var removedDuration = Duration.zero
        var removedBytes = 0
        var written: [RecordingKind: Int] = [:]
        var drops: [RecordingKind: DropCounts] = [:]
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
        var replay: RecorderReport.Replay?

        /// Number of units passed to a muxer, for watching the progress.
        var moved = 0

        /// Adds a complete file.
        mutating func add(_ file: RecorderReport.File, at index: Int) {
            numbered.append((index, file))
            numbered.sort { $0.index < $1.index }
        }

        /// Removes the oldest file from the list, and keeps its totals.
        mutating func removeOldest() -> RecorderReport.File? {
            guard !numbered.isEmpty else { return nil }
            let oldest = numbered.removeFirst().file
            removedBytes += oldest.bytes
            removedDuration += oldest.duration
            return oldest
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

    /// Grows as long as anything is written.
    var written: Int {
        let (units, current) = update { ($0.moved, $0.current) }
        return units + (current?.writtenUnits ?? 0) + byteCount
    }

    /// Whether there was an error.
    var hasFailed: Bool { state.withLock { $0.failure != nil } }

    func drop(_ unit: EncodedUnit, _ cause: DropCause) {
        state.withLock { $0.drops[unit.kind, default: DropCounts()][cause] += 1 }
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
