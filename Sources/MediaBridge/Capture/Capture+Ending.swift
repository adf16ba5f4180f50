internal import MediaBasics

/// How a capture ends that records, shows or sends something by itself, beside what it gives to the program:
/// `… ! tee name=t t. ! … ! mp4mux ! filesink location=out.mp4 t. ! … ! appsink`.
extension Capture {
    /// How long such a capture may take for its end without anything being written.
    private static let patience = Duration.seconds(10).asDefaultDeadline

    /// Sinks besides the appsinks.
    private var ownSinks: [Element] {
        let branches = branches.map(\.sink.element.path)
        return pipeline.sinks.filter { !branches.contains($0.path) }
    }

    /// Whether the end of its streams has to reach its sinks before it is stopped.
    var needsEnding: Bool { isUp && !ownSinks.isEmpty }

    /// Ends the streams at their sources and waits until its own sinks have dealt with the end. Before it
    /// leaves PLAYING. Does nothing for a capture that has no sinks but its appsinks, which must not be
    /// held up: what they are given has to be taken, or let go of, meanwhile.
    ///
    /// - Parameters:
    ///   - hasEnded: Whether its streams have ended by themselves. Files are read to their ends then.
    ///   - isHurried: Whether they are to end at once all the same.
    /// - Returns: What went wrong; `nil` also where the pipeline has failed, and told so.
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
        // A source that takes no notice goes on for ever.
        let done = await isComplete(sinks) { [pipeline] in
            pipeline.haveSourcesEnded ? nil : Self.patience
        }
        guard !done, pipeline.failure == nil, !isUntouched(sinks) else { return nil }
        let late = sinks.first { !$0.hasTakenEnd } ?? sinks[0]
        return PipelineError(
            .deadlineExceeded, element: late.path,
            message: "\"\(late.name)\" of the capture was not finished: the end of the stream did "
                + "not reach it, and nothing was written for \(Self.patience)",
            advice: "look for a source that does not end, or a sink that waits for another stream: "
                + pipeline.text.onOneLine)
    }

    /// The same for control threads: blocks.
    func finishAndWait(hasEnded: Bool) -> PipelineError? {
        guard needsEnding else { return nil }
        do {
            try BlockingTask { [self] in await finish(hasEnded: hasEnded) }.wait()
            return nil
        } catch {
            return error as? PipelineError
        }
    }

    private func isComplete(
        _ sinks: [Element], within limit: @escaping @Sendable () -> Duration?
    ) async -> Bool {
        let unfed = branches.contains { !$0.sink.isFed }
        return await PatientWait(news: ending).wait(
            until: { [pipeline] in
                // A sink that nothing is linked to, or that failed, keeps the pipeline from telling its end.
                pipeline.hasEnded
                    || (unfed || pipeline.failure != nil)
                        && sinks.allSatisfy { $0.hasTakenEnd || $0.refusesData }
            },
            movement: { [self] in
                sinks.reduce(arrivedSamples) { $0 + ($1.sinkStatistics?.rendered ?? 0) }
            },
            patience: { [self] in
                pipeline.failure != nil || isUntouched(sinks)
                    ? .afterError : PatientWait.Patience(standing: Self.patience, inAll: limit())
            })
    }

    /// Whether the capture has given nothing yet, to nobody: there is nothing to be completed.
    private func isUntouched(_ sinks: [Element]) -> Bool {
        arrivedSamples == 0 && !sinks.contains(where: \.hasBegun)
    }

    private var arrivedSamples: Int { branches.reduce(0) { $0 + $1.arrivedSamples } }

    /// What it should have written, and did not. Once it is stopped.
    var missingFile: PipelineError? {
        guard hasToShow, pipeline.failure == nil else { return nil }
        hasToShow = false
        return pipeline.missingFile
    }
}
