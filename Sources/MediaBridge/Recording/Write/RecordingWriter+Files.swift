internal import FoundationEssentials
internal import Glibc
internal import MediaBasics

/// Completes files, reports them, and removes old ones. Thread: the writer's queue.
extension RecordingWriter {
    /// Completes the current file, concurrently with the next one.
    func closeFile() {
        guard let file else { return }
        self.file = nil
        closing += 1
        let stallTimeout = limits.stallTimeout
        // In a task, so that the next file need not wait for the end of this one.
        ControlTask.start { [self] in
            do throws(PipelineError) {
                try await file.finish(
                    stallTimeout: stallTimeout, deadline: Duration.seconds(2).asDefaultDeadline)
                try await file.readBack(within: stallTimeout)
                queue.async { [self] in closed(file, nil) }
            } catch {
                queue.async { [self] in closed(file, error) }
            }
        }
    }

    private func closed(_ file: RecordingFile, _ failure: PipelineError?) {
        let report = file.report(failure)
        file.unlock()
        progress.update { state in
            state.add(report, at: file.index)
            for kind in file.kinds { state.written[kind, default: 0] += file.written(kind) }
            if state.current === file { state.current = nil }
        }
        if let failure { fail(failure) }
        tell(.fileFinished(report))
        closing -= 1
        guardian.complete(file.index)
        trimRing()
        finishIfDone()
    }

    func finishIfDone() {
        guard closing == 0 else { return }
        completing?.open()
        completing = nil
        if phase == .done { done.open() }
    }

    /// Suspends until every file is complete. Thread: any.
    func untilDone(within limit: Duration?) async -> Bool { await done.wait(for: limit, on: clock) }

    /// Suspends until every file is complete. Thread: any.
    ///
    /// - Parameter stallTimeout: The longest time without anything being written.
    /// - Returns: False if nothing was written for so long.
    func untilDone(stallTimeout: Duration) async -> Bool {
        var seen = progress.written
        while await !untilDone(within: stallTimeout) {
            let now = progress.written
            guard now != seen else { return false }
            seen = now
        }
        return true
    }

    // MARK: The ring

    private func trimRing() {
        guard let keep = limits.segments?.keep else { return }
        while true {
            var (count, bytes) = progress.update { state in
                (
                    state.files.count + (state.current == nil ? 0 : 1),
                    state.files.reduce(state.current?.byteCount ?? 0) { $0 + $1.bytes }
                )
            }
            count += older.count
            if keep.bytes != nil { bytes += older.reduce(0) { $0 + (FileSize.of($1) ?? 0) } }
            let isTooMany = keep.files.map { count > $0 } ?? false
            let isTooMuch = keep.bytes.map { bytes > $0 } ?? false
            guard isTooMany || isTooMuch, removeOldest() else { return }
        }
    }

    /// Removes the oldest file of a ring.
    ///
    /// - Returns: False if there is no ring, or nothing to remove.
    func removeOldest() -> Bool {
        guard limits.segments?.keep != nil else { return false }
        let path: String
        if let left = older.popFirst() {
            path = left
        } else if let oldest = progress.update({ $0.removeOldest() }) {
            path = oldest.path
        } else {
            return false
        }
        unlink(path)
        guardian.forget()
        tell(.fileRemoved(path: path))
        return true
    }
}

// MARK: - Segments

/// Decides where a file of a recording ends and the next begins.
struct SegmentLimit {
    private var limits: RecordingSegments?
    private var begin = MediaTime.zero
    private var bytes = 0
    /// Bytes since the last unit that a file could have begun with.
    private var group = 0
    private var largestGroup = 0

    mutating func begin(at time: MediaTime, _ limits: RecordingSegments?) {
        self.limits = limits
        begin = time
        bytes = 0
        group = 0
    }

    mutating func add(_ unit: EncodedUnit) {
        bytes += unit.byteCount
        if unit.isKey, unit.kind == .video { group = 0 }
        group += unit.byteCount
        largestGroup = max(largestGroup, group)
    }

    /// Returns whether a new file should begin with `unit`, a unit that it could begin with.
    func isReached(at unit: EncodedUnit) -> Bool {
        // Up to half a frame early counts as on time, because times are rounded.
        let slack = MediaTime(nanoseconds: (unit.duration?.nanoseconds ?? 0) / 2)
        if let length = limits?.length, unit.time + slack - begin >= MediaTime(length) {
            return true
        }
        guard let size = limits?.bytes else { return false }
        // The next group of pictures must fit as well, because it cannot be divided.
        return bytes + largestGroup > size
    }
}

/// Generates the names of a recording's files.
package struct SegmentNames: Sendable {
    private let path: String
    let isNumbered: Bool

    /// - Parameter isNumbered: Whether the first file has a number too.
    package init(_ path: String, isNumbered: Bool) {
        self.path = path
        self.isNumbered = isNumbered
    }

    /// Returns the path of a file: `out-00003.mkv` for index 3; `out.mkv` for an unnumbered first
    /// file.
    package func path(at index: Int) -> String {
        guard isNumbered || index > 0 else { return path }
        let digits = String(index)
        let number = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
        let (stem, ending) = parts(of: path)
        return "\(stem)-\(number)\(ending)"
    }

    /// Returns the files with a number that exist, in the order of their numbers.
    func existing() -> [(index: Int, path: String)] {
        let directory = DiskSpace.directory(of: path)
        let (stem, ending) = parts(
            of: path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { name -> (index: Int, path: String)? in
            guard name.hasPrefix("\(stem)-"), name.hasSuffix(ending) else { return nil }
            let number = name.dropFirst(stem.count + 1).dropLast(ending.count)
            guard let index = Int(number), (0..<Int.max).contains(index),
                case let path = self.path(at: index),
                path == name || path.hasSuffix("/\(name)")
            else { return nil }
            return (index, path)
        }.sorted { $0.index < $1.index }
    }

    /// The number after the highest one that exists.
    package var nextIndex: Int { existing().last.map { $0.index + 1 } ?? 0 }

    /// Splits a path in front of its ending.
    private func parts<S: StringProtocol>(of path: S) -> (
        stem: S.SubSequence, ending: S.SubSequence
    ) {
        let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[name...].lastIndex(of: ".") else {
            return (path[...], path[path.endIndex...])
        }
        return (path[..<dot], path[dot...])
    }
}
