internal import Glibc
internal import MediaBasics
internal import Synchronization

/// Removes the oldest files of a recording until its limits are kept: beside the recording, which never waits for
/// it unless the disk is full. Thread: any.
///
/// Protected files (`NAME.keep`) and files that cannot be removed stay beside the others, and do not count.
final class RecordingRing: Sendable {
    private struct File {
        let path: String
        let bytes: Int
        /// The place in this recording; `nil` for a file of an earlier one.
        let index: Int?
    }
    private struct State {
        /// The complete files, oldest first.
        var files: [File] = []
        /// The paths of this recording's files, until those of earlier recordings are found.
        var own: Set<String>? = []
        var isWaiting = false
        var hasWarned = false
    }
    private let limits: RecordingSegments
    private let names: RecordingNames
    private let progress: RecordingProgress
    private let wallClock: WallClock
    private let notify: @Sendable (RecorderEvent) -> Void
    let queue = SerialQueue(label: "mediabridge.ring")
    private let state = Mutex(State())

    init(
        _ limits: RecordingSegments, names: RecordingNames, progress: RecordingProgress,
        wallClock: WallClock, notify: @escaping @Sendable (RecorderEvent) -> Void
    ) {
        (self.limits, self.names, self.progress) = (limits, names, progress)
        (self.wallClock, self.notify) = (wallClock, notify)
    }

    /// Looks for the files of earlier recordings. Call it before the first file.
    func findOlderFiles() {
        queue.async { [self] in
            let found = names.existing()
            state.withLock { state in
                let own = state.own.take() ?? []
                let older = found.filter { !own.contains($0.path) }
                state.files =
                    older.map { File(path: $0.path, bytes: $0.bytes, index: nil) } + state.files
            }
        }
    }

    /// Notes the path of a file of this recording before it is created.
    func begin(_ path: String) { state.withLock { _ = $0.own?.insert(path) } }

    /// Notes that a file is not one of this recording: it exists already.
    func disown(_ path: String) { state.withLock { _ = $0.own?.remove(path) } }

    /// Adds a complete file.
    func add(_ file: RecordedFile, at index: Int) {
        state.withLock { state in
            // A file may be complete before the one that began earlier.
            let place = state.files.lastIndex { ($0.index ?? -1) < index }.map { $0 + 1 } ?? 0
            state.files.insert(File(path: file.path, bytes: file.bytes, index: index), at: place)
        }
    }

    /// Removes the oldest files until all limits are kept, and then calls `completion` on the ring's queue. Returns
    /// at once.
    func trim(_ completion: (@Sendable () -> Void)? = nil) {
        let isWaiting = state.withLock { state in
            defer { state.isWaiting = true }
            return state.isWaiting
        }
        guard !isWaiting || completion != nil else { return }
        queue.async { [self] in
            state.withLock { $0.isWaiting = false }
            removeBeyondLimits()
            completion?()
        }
    }

    /// Removes the oldest file at once, because the disk is full. Waits until the files of earlier recordings are
    /// known.
    ///
    /// - Returns: False if there is nothing to remove.
    func removeOldest() -> Bool {
        if state.withLock({ $0.own != nil }) { queue.sync {} }
        let (files, current) = content
        guard let file = (current == nil ? files.dropLast() : files[...]).first(where: removes)
        else {
            return false
        }
        forget([file.path])
        return true
    }

    private var content: (files: [File], current: RecordingFile?) {
        (state.withLock { $0.files }, progress.update { $0.current })
    }

    private func removeBeyondLimits() {
        let (files, current) = content
        var (count, bytes) = (current == nil ? 0 : 1, current?.byteCount ?? 0)
        count += files.count
        bytes += files.reduce(0) { $0 + $1.bytes }
        guard let oldest = files.first, isBeyond(count, bytes, oldest) else { return }
        var removable: [File] = []
        for file in files {
            guard isProtected(file) else {
                removable.append(file)
                continue
            }
            (count, bytes) = (count - 1, bytes - file.bytes)
        }
        if current == nil, removable.last?.path == files.last?.path { removable.removeLast() }
        var removed: Set<String> = []
        for file in removable {
            guard isBeyond(count, bytes, file) else { break }
            if removes(file) { removed.insert(file.path) }
            (count, bytes) = (count - 1, bytes - file.bytes)
        }
        forget(removed)
    }

    private func isBeyond(_ count: Int, _ bytes: Int, _ oldest: File) -> Bool {
        if let limit = limits.keepFiles, count > limit { return true }
        if let limit = limits.keepBytes, bytes > limit { return true }
        if let limit = limits.keepAge, let changed = FileSize.lastChange(of: oldest.path),
            wallClock.now() - changed > MediaTime(limit).nanoseconds
        {
            return true
        }
        guard let least = limits.keepFree else { return false }
        return DiskSpace.free(in: names.directory) ?? .max < least
    }

    private func isProtected(_ file: File) -> Bool { access("\(file.path).keep", F_OK) == 0 }

    private func forget(_ removed: Set<String>) {
        guard !removed.isEmpty else { return }
        state.withLock { $0.files.removeAll { removed.contains($0.path) } }
    }

    /// Removes a file unless it is protected.
    ///
    /// - Returns: Whether it is gone.
    private func removes(_ file: File) -> Bool {
        guard !isProtected(file) else { return false }
        do throws(PipelineError) {
            switch try names.remove(file.path) {
            case .busy: return false
            case .missing: progress.update { if file.index != nil { $0.remove(file.path) } }
            case .removed:
                progress.update {
                    if file.index != nil { $0.remove(file.path) }
                    $0.removedFiles += 1
                    $0.moved += 1
                }
                notify(.fileRemoved(path: file.path))
            }
            return true
        } catch {
            // The next files will probably fail too.
            let hasWarned = state.withLock { state in
                defer { state.hasWarned = true }
                return state.hasWarned
            }
            if !hasWarned { notify(.warning(error)) }
            return false
        }
    }
}
