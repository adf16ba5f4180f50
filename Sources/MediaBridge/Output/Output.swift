internal import MediaBasics
internal import Synchronization

/// An output pipeline and its branches. ``PipelineVideoSink`` and ``Bridge`` are built on it.
final class Output: Sendable {
    let pipeline: Pipeline
    /// By name.
    let branches: [String: OutputBranch]
    let writers = OutputWriters()
    private let timeline: OutputTimeline
    private let outcome = Latch()
    /// Number of late frames of a finished run; negative before.
    private let finalLate = Atomic<Int>(-1)
    private let hasFailed = Atomic<Bool>(false)
    /// The limits of the string's own sources in this run.
    private let sourceLimits = Mutex<[PadProbe]>([])

    /// - Parameters:
    ///   - streams: Names of the streams to write: see
    ///     ``BridgedText/output(_:streams:types:elements:)``.
    ///   - types: Media types of the streams, as far as they are known.
    ///   - elements: Names of the captures' elements.
    init(
        _ text: String, configuration: PipelineSink.Configuration,
        streams: [String] = [BridgedText.defaultBranch], types: [String: Caps] = [:],
        elements: Set<String> = []
    ) throws(PipelineError) {
        let bridged = try BridgedText.output(
            text, streams: streams, types: types, elements: elements)
        let pipeline = try bridged.parse(
            orExplain: "begin the output string with an element that has a free sink pad",
            under: configuration.untrusted)
        self.pipeline = pipeline
        let timeline = OutputTimeline(
            pipeline, origin: configuration.timeOrigin, streams: bridged.branches.count)
        self.timeline = timeline
        var branches: [String: OutputBranch] = [:]
        for (element, source) in pipeline.appSources {
            guard let name = bridged.branches[element] else { continue }
            branches[name] = OutputBranch(
                name: name, source: source, timeline: timeline, configuration: configuration)
        }
        self.branches = branches
        guard !branches.isEmpty else {
            throw PipelineError(.wrongEnds, message: "no appsrc in: \(text.onOneLine)")
        }
        for branch in branches.values {
            branch.beforeEnd { [weak self] in
                guard let branches = self?.branches.values, branches.allSatisfy(\.isEnding) else {
                    return
                }
                self?.limitOwnSources(toTheirEnd: !branches.contains(where: \.isEndedByLimit))
            }
        }
        pipeline.useSharedClock()
        pipeline.onMessage { [weak self] message in
            switch message {
            case .endOfStream, .error:
                // A writer that waits for room in a pipeline that has ended would wait forever.
                self?.close()
                self?.outcome.open()
            default: break
            }
        }
    }

    /// Makes the output fail at once when it refuses the format of a stream, as ``FormatRefusals`` decides: for
    /// callers that do not check whether their frames were taken.
    func failsForFormat() {
        for branch in branches.values {
            branch.refusedFormats.onEnd { [weak pipeline] error in pipeline?.fail(error) }
        }
    }

    /// Resets the state for a new run. Must be called right before the change to PLAYING.
    func prepare() {
        pipeline.clearOutcome()
        outcome.reset()
        timeline.reset()
        finalLate.store(-1, ordering: .relaxed)
        sourceLimits.withLock { limits in
            limits.forEach { $0.remove() }
            limits = []
        }
        hasFailed.store(false, ordering: .relaxed)
        branches.values.forEach { $0.open() }
    }

    /// Whether it takes frames: started, not finished, not failed.
    var isOpen: Bool { branches.values.contains { $0.isOpen } }

    /// Stops taking frames, and wakes writers that wait.
    func close() { branches.values.forEach { $0.close() } }

    /// Ends the stream of every branch, waits until the last frame is written, and sets the
    /// pipeline to NULL.
    ///
    /// - Parameters:
    ///   - stallTimeout: Maximum time *without a frame being written*, or taken by the output's
    ///     elements.
    ///   - deadline: Maximum time for the change to NULL.
    ///   - toTheirEnd: Whether the string's own sources that end by themselves and are not live continue to
    ///     their end, as with gst-launch-1.0. All others continue to the time that the frames have reached.
    ///     Default false.
    ///   - checksFiles: Whether the files of filesinks must be where they were written. Default true.
    /// - Throws: The error that the pipeline posted, or why a format was refused;
    ///   ``PipelineError/Code/deadlineExceeded`` if the pipeline is stuck; an error if a file was
    ///   not written.
    func finish(
        stallTimeout: Duration, deadline: Duration = Pipeline.stateDeadline,
        toTheirEnd: Bool = false, checksFiles: Bool = true,
        movement: @escaping @Sendable () -> Int = { 0 }
    ) async throws(PipelineError) {
        close()
        let hasFrames = branches.values.contains { $0.hasTaken }
        let sources = ownBranches
        let hasOwnSources = pipeline.hasSources(besides: sources)
        var verdict: PipelineError?
        if hasFrames || hasOwnSources && pipeline.isUp, !pipeline.hasEnded {
            let end = limitOwnSources(toTheirEnd: toTheirEnd)
            branches.values.forEach { $0.endOfStream(isAtLimit: !toTheirEnd) }
            // Sources of the string itself must not end before the frames have passed.
            if hasOwnSources {
                _ = await ended(stallTimeout: stallTimeout) { !$0.contains { !$0.hasGivenEnd } }
                if let end {
                    _ = await ended(stallTimeout: stallTimeout, besides: sources) { [pipeline] _ in
                        pipeline.haveSources(
                            besides: sources, reached: end, toTheirEnd: toTheirEnd)
                    }
                }
                pipeline.endSources(besides: sources)
            }
            if await !ended(stallTimeout: stallTimeout, movement: movement) {
                verdict = PipelineError(
                    .deadlineExceeded,
                    message: "the output did not end: nothing was written for \(stallTimeout)",
                    advice:
                        "look for a sink that waits for another stream: \(pipeline.text.onOneLine)")
            }
        }
        let failure = pipeline.failure
        let late = countLateFrames()
        branches.values.forEach { $0.settle() }
        finalLate.store(late, ordering: .relaxed)
        do {
            try await pipeline.setState(.null, deadline: deadline)
        } catch {
            verdict = verdict ?? error
        }
        if let problem = failure ?? formatFailure ?? verdict
            ?? (checksFiles && hasFrames ? pipeline.missingFile : nil)
        {
            hasFailed.store(true, ordering: .relaxed)
            throw problem
        }
    }

    /// The names of the appsrcs.
    private var ownBranches: Set<String> { Set(branches.values.map(\.source.element.name)) }

    /// Limits the sources of the string itself to the time that the frames have reached. Must be called before
    /// the frames end, because a muxer then takes everything that the other sources produce.
    ///
    /// - Parameter toTheirEnd: Sets no limit to sources that end by themselves and are not live.
    /// - Returns: The time; `nil` without sources, or for bytes without timestamps.
    @discardableResult
    private func limitOwnSources(toTheirEnd: Bool) -> ClockTime? {
        let names = ownBranches
        guard pipeline.hasSources(besides: names),
            let end = branches.values.map(\.reached).filter({ $0 > .zero }).max()
                .flatMap({ ClockTime($0) })
        else { return nil }
        let limits = pipeline.limitSources(besides: names, to: end, toTheirEnd: toTheirEnd)
        sourceLimits.withLock { $0 += limits }
        return end
    }

    private var formatFailure: PipelineError? {
        branches.values.lazy.compactMap { $0.refusedFormats.reason }.first
    }

    /// Waits until the pipeline has ended or `isDone` returns true.
    ///
    /// - Parameter own: The names of the appsrcs, if sources of the string itself are waited for.
    /// - Returns: False if the timeout passed before.
    private func ended(
        stallTimeout: Duration, besides own: Set<String>? = nil,
        orUntil isDone: @escaping @Sendable ([OutputBranch]) -> Bool = { _ in false },
        movement: @escaping @Sendable () -> Int = { 0 }
    ) async -> Bool {
        let branches = Array(branches.values)
        let sinks = pipeline.sinks
        return await ProgressWait(signal: outcome).wait(
            until: { [pipeline] in
                pipeline.hasEnded || isDone(branches)
                    || pipeline.failure != nil
                        && sinks.allSatisfy { $0.hasReachedEnd || $0.refusesData }
            },
            // A slow encoder takes frames for a while before it outputs any.
            movement: { [pipeline] in
                branches.reduce(0) { $0 + $1.writtenBuffers + $1.departedBuffers }
                    + (own.map { pipeline.progress(ofSourcesBesides: $0) } ?? 0) + movement()
            },
            limits: { [pipeline] in
                pipeline.failure == nil
                    ? ProgressWait.Limits(standing: stallTimeout) : .afterError
            })
    }

    /// Returns the counts of a branch's buffers so far.
    func report(of branch: OutputBranch) -> StreamCounts {
        let taken = balance(ofTakenBy: branch)
        let refused = branch.refusals
        let balance = FrameBalance(
            offered: taken.offered + refused.total, delivered: taken.delivered,
            dropped: taken.dropped + refused)
        let unshown = showsLateFrames(branch) ? unshownFrames : 0
        return StreamCounts(
            frames: max(0, branch.writtenBuffers - unshown), dropped: balance.dropped,
            balance: balance, bytes: writtenBytes)
    }

    /// Accounts for the buffers that a branch took. A buffer counts as delivered if it left the queue, was not
    /// too late for its display and was not lost in a failure.
    func balance(ofTakenBy branch: OutputBranch) -> FrameBalance {
        var drops = DropCounts()
        let (evicted, departed) = (branch.evictedBuffers, branch.departedBuffers)
        let (unshown, skipped) =
            showsLateFrames(branch) ? (unshownFrames, pipeline.skippedBuffers) : (0, 0)
        drops[.evicted] = evicted
        drops[.late] = min(unshown + skipped, departed)
        let accepted = max(branch.acceptedBuffers, departed + evicted)
        if hasFailed.load(ordering: .relaxed) {
            let written = min(branch.writtenBuffers + skipped, accepted - evicted)
            drops[.unwritten] = accepted - evicted - max(written, drops[.late])
        } else if finalLate.load(ordering: .relaxed) >= 0 {
            // The output ended by itself before these buffers left the queue.
            drops[.closed] = accepted - evicted - departed
        }
        let delivered =
            drops[.unwritten] > 0 ? accepted - drops.total : departed - drops[.late]
        return FrameBalance(offered: accepted, delivered: delivered, dropped: drops)
    }

    private func showsLateFrames(_ branch: OutputBranch) -> Bool {
        branch.name == BridgedText.defaultBranch || branches.count == 1
    }

    /// Frames that displays, and converters in front of them, dropped because they came too late.
    var lateFrames: Int { unshownFrames + pipeline.skippedBuffers }

    private var unshownFrames: Int {
        let final = finalLate.load(ordering: .relaxed)
        return final >= 0 ? final : countLateFrames()
    }

    /// Counts the video frames that sinks dropped as too late. Elements lose this count at NULL.
    private func countLateFrames() -> Int {
        pipeline.elements.reduce(0) { sum, element in
            guard element.pad("sink")?.caps?.mediaType.hasPrefix("video/") == true else {
                return sum
            }
            return sum + (element.sinkStatistics?.dropped ?? 0)
        }
    }

    /// Size in bytes of the files that the output's `filesink` elements write; `nil` if none.
    var writtenBytes: Int? {
        let sizes = pipeline.elements.compactMap { element -> Int? in
            guard element.factoryName == "filesink", let path = element.string("location") else {
                return nil
            }
            return FileSize.of(path)
        }
        return sizes.isEmpty ? nil : sizes.reduce(0, +)
    }
}

extension Pipeline {
    /// The error for a file that was to be written and is missing, or is empty although a muxer
    /// wrote to it; `nil` if there is none. A run that ends without its file is no success.
    var missingFile: PipelineError? {
        let elements = elements
        let isMuxed = elements.contains { $0.klass.contains("Muxer") }
        for element in elements where element.factoryName == "filesink" {
            guard let path = element.string("location"), let problem = FileSize.missing(path) else {
                continue
            }
            if problem == .empty, !isMuxed { continue }
            return PipelineError(
                .resourceFailed, element: element.path,
                message: "\"\(path)\" was written, but \(problem.rawValue)",
                advice: "check the disk, and whether another program writes to the file")
        }
        return nil
    }
}
