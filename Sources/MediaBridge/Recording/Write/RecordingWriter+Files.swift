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
        let report = RecorderReport.File(
            path: file.path, frames: file.written(.video), duration: file.duration.duration,
            bytes: file.byteCount, failure: failure)
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
