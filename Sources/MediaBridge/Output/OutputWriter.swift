internal import Synchronization

/// Writes to one branch of an output. ``PipelineVideoSink`` and ``PipelineAudioSink`` are built on
/// it.
///
/// An output of several branches starts with the first writer that starts, and ends with the last
/// that finishes.
final class OutputWriter: Sendable {
    let output: Output
    let branch: OutputBranch
    let stallTimeout: Duration

    init(_ output: Output, _ branch: OutputBranch, stallTimeout: Duration) {
        self.output = output
        self.branch = branch
        self.stallTimeout = stallTimeout
        output.writers.add(branch.name)
    }

    deinit { output.writers.remove(branch.name) }

    var pipeline: Pipeline { output.pipeline }

    // MARK: Start

    func start() async throws(PipelineError) {
        guard prepare() else { return }
        do {
            try await pipeline.setState(.playing)
        } catch {
            output.close()
            // The first error is the one to report.
            do { try await pipeline.setState(.null) } catch {}
            throw error
        }
        endUnwritten()
    }

    /// Variant for an engine's control thread: blocks until it is done.
    func startAndWait() throws(PipelineError) {
        guard prepare() else { return }
        try pipeline.setStateAndWait(.playing)
        endUnwritten()
    }

    /// Prepares the branch, and the output if it does not run yet.
    ///
    /// - Returns: False if the output runs already; the branch takes frames then.
    private func prepare() -> Bool {
        output.writers.start(branch.name)
        guard !output.isOpen else {
            if !branch.isOpen { branch.open() }
            return false
        }
        output.prepare()
        return true
    }

    /// Ends the branches that have no writer, because a muxer would wait for them.
    private func endUnwritten() {
        for (name, other) in output.branches where !output.writers.isExpected(name) {
            other.close()
            other.endOfStream()
        }
    }

    // MARK: Writing

    /// Whether frames may be written without a start.
    private var isStarted: Bool { branch.isOpen && output.writers.isRunning(branch.name) }

    /// Starts the output if it was not started, writes, and throws the reason if the frame is
    /// refused.
    func write(
        _ what: String, _ body: () async throws -> FrameDisposition
    ) async throws {
        if !isStarted, pipeline.failure == nil, !pipeline.hasEnded { try await start() }
        if case .dropped(let cause) = try await body() { throw refusal(of: what, cause) }
    }

    func refusal(of what: String, _ cause: DropCause) -> PipelineError {
        if let failure = pipeline.failure ?? branch.refusedFormats.reason { return failure }
        switch cause {
        case .noTime:
            return PipelineError(
                .noTime, message: "the frame carries no running time",
                advice: "set its runningTime")
        case .backwards, .early, .badTime:
            return PipelineError(
                .noTime, message: "the frame \(what) is due before the one that came before it",
                advice: "write frames in the order of their running time")
        case .badSize:
            return PipelineError(.streamFailed, message: "the frame \(what) is empty")
        case .closed, .notStarted:
            return PipelineError(
                .invalidState,
                message: "the output takes no frames: it was not started, was finished, or ended")
        case .evicted, .queueFull, .notEnabled, .wrongBufferType, .badStride, .undecodable,
            .needsKeyFrame, .late, .badFormat, .processor, .failed, .paused, .unwritten:
            return PipelineError(
                .streamFailed, message: "the output refused the frame \(what): \(cause)")
        }
    }

    // MARK: End

    func finish() async throws(PipelineError) -> PipelineVideoSink.Report {
        if output.writers.finish(branch.name) {
            try await output.finish(stallTimeout: stallTimeout)
            await WrappedMemory.settle()
        } else {
            branch.close()
            branch.endOfStream()
        }
        return statistics
    }

    /// Variant for an engine's control thread: blocks until it is done.
    func finishAndWait() throws {
        try BlockingTask { [self] in
            do { _ = try await finish() } catch { return error }
            return nil
        }.wait()
    }

    var statistics: PipelineVideoSink.Report { output.report(of: branch) }

    var takenFrames: FrameBalance { output.balance(ofTakenBy: branch) }
}

/// Tracks which branches of an output have writers. Thread: any.
final class OutputWriters: Sendable {
    private struct State {
        var expected: Set<String> = []
        var running: Set<String> = []
    }
    private let state = Mutex(State())

    func add(_ name: String) { state.withLock { _ = $0.expected.insert(name) } }

    func remove(_ name: String) {
        state.withLock { state in
            state.expected.remove(name)
            state.running.remove(name)
        }
    }

    func isExpected(_ name: String) -> Bool { state.withLock { $0.expected.contains(name) } }
    func isRunning(_ name: String) -> Bool { state.withLock { $0.running.contains(name) } }

    func start(_ name: String) { state.withLock { _ = $0.running.insert(name) } }

    /// - Returns: Whether no other writer runs.
    func finish(_ name: String) -> Bool {
        state.withLock { state in
            state.running.remove(name)
            return state.running.isEmpty
        }
    }
}
