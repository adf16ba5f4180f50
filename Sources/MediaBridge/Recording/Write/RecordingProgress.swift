internal import Synchronization

/// What of a recording is seen from other threads: counts, files and failures.
final class RecordingProgress: Sendable {
    struct State {
        /// In the order in which they were begun.
        var files: [RecorderReport.File] { numbered.map(\.file) }
        private var numbered: [(index: Int, file: RecorderReport.File)] = []
        var current: RecordingFile?
        /// Whether none was completed, and none is being written.
        var hasNoFile: Bool {
            numbered.isEmpty && current == nil && removedBytes == 0
        }
        /// Of files that are not in `files` any more.
        var removedDuration = Duration.zero
        var removedBytes = 0
        var written: [RecordingKind: Int] = [:]
        var drops: [RecordingKind: DropCounts] = [:]
        var failure: PipelineError?
        var ended: RecorderReport.End?
        /// Files that were begun since the last recording ended.
        var begun = 0

        /// - Returns: How many files the recording began.
        mutating func endRecording() -> Int {
            defer { begun = 0 }
            return begun
        }

        /// Units that went to a muxer, for who watches whether anything moves.
        var moved = 0

        /// A file is complete.
        mutating func add(_ file: RecorderReport.File, at index: Int) {
            numbered.append((index, file))
            numbered.sort { $0.index < $1.index }
        }

        /// Forgets the oldest file, but for what it held.
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

    /// Bytes of all files, those too that were removed.
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

    func drop(_ unit: EncodedUnit, _ cause: DropCause) {
        state.withLock { $0.drops[unit.kind, default: DropCounts()][cause] += 1 }
    }

    /// - Returns: Whether it is the first.
    func fail(_ error: PipelineError) -> Bool {
        state.withLock { state in
            guard state.failure == nil else { return false }
            state.failure = error
            state.ended = .error
            return true
        }
    }

    /// The first reason counts.
    func end(_ reason: RecorderReport.End) {
        state.withLock { if $0.ended == nil { $0.ended = reason } }
    }
}
