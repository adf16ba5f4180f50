internal import MediaBasics

/// Ends a capture that also records, shows or sends its streams through its own sinks, in addition
/// to the appsinks that the program reads:
/// `… ! tee name=t t. ! … ! mp4mux ! filesink location=out.mp4 t. ! … ! appsink`.
extension Capture {
    /// Longest time without progress while such a capture ends.
    private static let stallTimeout = Duration.seconds(10).asDefaultDeadline

    /// The pipeline's sinks other than its appsinks.
    private var ownSinks: [Element] {
        let branches = branches.map(\.sink.element.path)
        return pipeline.sinks.filter { !branches.contains($0.path) }
    }

    /// Whether it records, shows or sends something by itself.
    var hasOwnSinks: Bool { !ownSinks.isEmpty }

    /// Whether end-of-stream must reach the capture's own sinks before the pipeline is stopped.
    var needsEnding: Bool { isUp && hasOwnSinks }

    /// Ends the streams at their sources and waits until the capture's own sinks have processed the
    /// end of stream. Must be called before the pipeline leaves PLAYING. Does nothing if the
    /// appsinks are the only sinks. The appsinks must not block meanwhile: their samples have to be
    /// taken or discarded.
    ///
    /// - Parameters:
    ///   - hasEnded: Whether the streams have ended by themselves. If so, sources that read files
    ///     are first left to reach the end of their files.
    ///   - isHurried: Asked repeatedly while those sources finish. `true` ends them at once.
    /// - Returns: What went wrong; `nil` also if the pipeline has failed, because it has reported
    ///   that error already.
    func finish(
        hasEnded: Bool, isHurried: @escaping @Sendable () -> Bool = { false }
    ) async -> PipelineError? {
        let sinks = takeDown() ? ownSinks : []
        guard !sinks.isEmpty else { return nil }
        defer { hasToShow = arrivedSamples > 0 }
        if hasEnded {
            pipeline.endSources(sparesFiles: true)
            let done = await isComplete(sinks) { isHurried() ? .zero : nil }
            if done { return nil }
        }
        pipeline.endSources()
        // A source that ignores the request never ends, so the wait is limited until all have
        // ended.
        let done = await isComplete(sinks) { [pipeline] in
            pipeline.haveSourcesEnded ? nil : Self.stallTimeout
        }
        guard !done, pipeline.failure == nil, !isUntouched(sinks) else { return nil }
        let late = sinks.first { !$0.hasTakenEnd } ?? sinks[0]
        return PipelineError(
            .deadlineExceeded, element: late.path,
            message: "\"\(late.name)\" in the capture did not finish: the end of the stream did "
                + "not reach it, and nothing was written for \(Self.stallTimeout)",
            advice: "look for a source that does not end, or a sink that waits for another stream: "
                + pipeline.text.onOneLine)
    }

    /// Does the same as `finish` for control threads: blocks the caller.
    func finishAndWait(hasEnded: Bool) -> PipelineError? {
        guard needsEnding else { return nil }
        return ControlTask.blocking { [self] in await finish(hasEnded: hasEnded) }
    }

    private func isComplete(
        _ sinks: [Element], within limit: @escaping @Sendable () -> Duration?
    ) async -> Bool {
        let unfed = branches.contains { !$0.sink.isFed }
        return await ProgressWait(signal: ending).wait(
            until: { [pipeline] in
                // If a sink is not linked or has failed, the pipeline posts no end-of-stream
                // message.
                pipeline.hasEnded
                    || (unfed || pipeline.failure != nil)
                        && sinks.allSatisfy { $0.hasTakenEnd || $0.refusesData }
            },
            movement: { [self] in
                sinks.reduce(arrivedSamples) { $0 + ($1.sinkStatistics?.rendered ?? 0) }
            },
            limits: { [self] in
                pipeline.failure != nil || isUntouched(sinks)
                    ? .afterError : ProgressWait.Limits(standing: Self.stallTimeout, inAll: limit())
            })
    }

    /// Whether no sample has reached any sink yet, so that there is nothing to complete.
    private func isUntouched(_ sinks: [Element]) -> Bool {
        arrivedSamples == 0 && !sinks.contains(where: \.hasBegun)
    }

    private var arrivedSamples: Int { branches.reduce(0) { $0 + $1.arrivedSamples } }

    /// The error for a file that the run should have written and did not. Valid once the capture is
    /// stopped; only the first read returns it.
    var missingFile: PipelineError? {
        guard hasToShow, pipeline.failure == nil else { return nil }
        hasToShow = false
        return pipeline.missingFile
    }
}
