internal import MediaBasics
internal import Synchronization

/// Writes to one branch of an output. ``PipelineVideoSink`` and ``PipelineAudioSink`` are built on
/// it.
///
/// An output of several branches starts with the first writer that starts, and ends with the last
/// that finishes, also if that one has not begun when the others finish.
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
        let isFirst = prepare()
        do {
            // A writer that starts second waits here for the first writer's state change.
            try await pipeline.setState(.playing)
        } catch {
            output.close()
            // The first error is the one to report.
            do { try await pipeline.setState(.null) } catch {}
            throw error
        }
        if isFirst { endUnwritten() }
    }

    /// Variant for an engine's control thread: blocks until it is done.
    func startAndWait() throws(PipelineError) {
        let isFirst = prepare()
        try pipeline.setStateAndWait(.playing)
        if isFirst { endUnwritten() }
    }

    /// Prepares the branch, and the output if it does not run yet.
    ///
    /// - Returns: False if the output runs already; the branch takes frames then.
    private func prepare() -> Bool {
        output.writers.begin(branch.name) {
            guard !output.isOpen else {
                if !branch.isOpen { branch.open() }
                return false
            }
            output.prepare()
            return true
        }
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
    func write(_ frame: some OutputFrame, _ what: @autoclosure () -> String) async throws {
        if !isStarted, pipeline.failure == nil, !pipeline.hasEnded { try await start() }
        if case .dropped(let cause) = try await branch.write(frame) {
            throw refusal(of: what(), cause)
        }
    }

    /// Writes for an engine, and throws the reason if the frame is refused.
    func render(_ frame: borrowing some OutputFrame, _ what: @autoclosure () -> String) throws {
        if case .dropped(let cause) = branch.consume(frame) { throw refusal(of: what(), cause) }
    }

    private func refusal(of what: String, _ cause: DropCause) -> PipelineError {
        if let failure = pipeline.failure ?? branch.refusedFormats.reason { return failure }
        switch cause {
        case .noTime:
            return PipelineError(
                .noTime, message: "the frame has no running time",
                advice: "set its runningTime")
        case .backwards, .early, .badTime:
            return PipelineError(
                .noTime, message: "the frame is earlier than the one before it: \(what)",
                advice: "write frames in the order of their running time")
        case .badSize:
            return PipelineError(.streamFailed, message: "the frame is empty: \(what)")
        case .closed, .notStarted:
            return PipelineError(
                .invalidState,
                message: "the output accepts no frames: it was not started, was finished, or ended")
        case .evicted, .queueFull, .notEnabled, .wrongBufferType, .badStride, .undecodable,
            .needsKeyFrame, .late, .badFormat, .processor, .failed, .paused,
            .notConnected, .unwritten, .lost, .muted, .frameRate:
            return PipelineError(
                .streamFailed, message: "the output dropped a frame (\(cause)): \(what)")
        }
    }

    // MARK: End

    /// Ends the branch, and the output if no other writer will.
    ///
    /// - Parameter awaitsOthers: Whether a writer that exists and has not begun is waited for, for
    ///   `stallTimeout` at most.
    func finish(
        awaitsOthers: Bool = true
    ) async throws(PipelineError) -> PipelineSink.Report {
        switch output.writers.finish(branch.name) {
        case .othersRun: endBranch()
        case .othersMayBegin where awaitsOthers && branch.hasTaken:
            endBranch()
            if await !othersBegin() { try await endOutput() }
        case .othersMayBegin, .isLast: try await endOutput()
        }
        return statistics
    }

    private func endBranch() {
        branch.close()
        branch.endOfStream()
    }

    private func endOutput() async throws(PipelineError) {
        let refused = branch.refusals[.closed]
        let wasStarted = output.writers.hasBegun
        try await output.finish(stallTimeout: stallTimeout)
        await WrappedMemory.settle()
        guard wasStarted || refused == 0 else {
            throw PipelineError(
                .invalidState,
                message: "the output was never started, and \(refused) frames were refused",
                advice: "call start() before the first frame, or use write(_:), which starts it")
        }
    }

    /// Waits until the other writers have begun, or have been released.
    ///
    /// - Returns: Whether another writer began, which then ends the output.
    private func othersBegin() async -> Bool {
        let (writers, pipeline, name) = (output.writers, pipeline, branch.name)
        _ = await ProgressWait(signal: writers.changes).wait(
            until: { !writers.isAnyAwaited || pipeline.failure != nil || pipeline.hasEnded },
            movement: { 0 }, limits: { [stallTimeout] in .init(standing: stallTimeout) })
        return writers.hasBegun(besides: name)
    }

    /// Variant for an engine's control thread: blocks until it is done. The engine itself starts
    /// the sinks that it has.
    func finishAndWait() throws {
        _ = try ControlTask.blocking { [self] () async throws(PipelineError) in
            try await finish(awaitsOthers: false)
        }
    }

    var statistics: PipelineSink.Report { output.report(of: branch) }

    var frameBalance: FrameBalance { output.balance(ofTakenBy: branch) }
}

/// Tracks which branches of an output have writers. Thread: any.
final class OutputWriters: Sendable {
    /// The state of the other writers when one finishes.
    enum OtherWriters {
        case othersRun
        /// No other writer runs, but one exists that has not begun in this run.
        case othersMayBegin
        case isLast
    }
    private struct State {
        /// Branches that have a writer.
        var expected: Set<String> = []
        /// Branches whose writer began in this run.
        var begun: Set<String> = []
        /// Branches whose writer began and has not finished.
        var running: Set<String> = []
    }
    private let state = Mutex(State())
    /// Opened when a writer begins or is released.
    let changes = Latch()

    func add(_ name: String) { state.withLock { _ = $0.expected.insert(name) } }

    func remove(_ name: String) {
        state.withLock { state in
            state.expected.remove(name)
            state.running.remove(name)
        }
        changes.open()
    }

    func isExpected(_ name: String) -> Bool { state.withLock { $0.expected.contains(name) } }
    func isRunning(_ name: String) -> Bool { state.withLock { $0.running.contains(name) } }

    /// Whether a writer has begun in this run.
    var hasBegun: Bool { state.withLock { !$0.begun.isEmpty } }

    /// Whether a writer exists that has not begun in this run.
    var isAnyAwaited: Bool { state.withLock { !$0.expected.isSubset(of: $0.begun) } }

    /// Whether another writer has begun in this run, finished or not.
    func hasBegun(besides name: String) -> Bool {
        state.withLock { !$0.begun.subtracting([name]).isEmpty }
    }

    /// Notes that a writer begins.
    ///
    /// - Parameter open: Opens its branch. Called by one writer at a time, under the lock; returns
    ///   whether a run of the output begins with it.
    /// - Returns: What `open` returned.
    func begin(_ name: String, _ open: () -> Bool) -> Bool {
        defer { changes.open() }
        return state.withLock { state in
            let isFirst = open()
            if isFirst { (state.begun, state.running) = ([], []) }
            state.begun.insert(name)
            state.running.insert(name)
            return isFirst
        }
    }

    func finish(_ name: String) -> OtherWriters {
        state.withLock { state in
            state.running.remove(name)
            if !state.running.isEmpty { return .othersRun }
            return state.expected.isSubset(of: state.begun) ? .isLast : .othersMayBegin
        }
    }
}
