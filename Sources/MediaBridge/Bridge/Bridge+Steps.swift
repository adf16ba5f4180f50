/// Start and end of a bridge, and the checks at its end.
extension Bridge {
    /// Starts the outputs, then the captures. An output that fails at its start does not affect the
    /// others; without others, the run ends.
    ///
    /// - Returns: Whether the bridge runs.
    func start() async -> Bool {
        warnOfUnusedStreams()
        do throws(PipelineError) {
            // Captures are opened first: if an input is missing, no output file must be
            // overwritten.
            for capture in captures {
                for source in capture.timedByArrival {
                    run.warn(
                        PipelineError(
                            .noTime, element: source.path,
                            message: "raw frames without timestamps get the time of their arrival",
                            advice: "set do-timestamp=true to make this explicit"))
                }
                capture.prepare()
                try await enter(.ready, capture)
            }
            let open = await openOutputs()
            guard run.ending == nil else { return false }
            streams.forEach { $0.negotiate() }
            for capture in captures { try await enter(.paused, capture) }
            await startOutputs(open)
            guard run.ending == nil else { return false }
            streams.forEach { $0.open() }
            // An empty stream has ended by now; outputs get its end once they can take it.
            streams.forEach { $0.connect() }
            run.startClock()
            let zero = SharedClock.now
            for capture in captures {
                capture.setTimeZero(zero)
                if try await enter(.playing, capture) { capture.isUp = true }
            }
            restarts.forEach { $0.begin() }
            return true
        } catch {
            run.fail(error)
            return false
        }
    }

    private func warnOfUnusedStreams() {
        let recordsSoundOnly = plan.recordings.allSatisfy {
            RecordingContainer.isOfSound(path: $0.path)
        }
        for stream in streams where !stream.isTaken {
            if !recordings.isEmpty {
                if recordsSoundOnly, stream.name == BridgedText.defaultBranch { continue }
                run.warn(
                    PipelineError(
                        .wrongEnds,
                        message:
                            "the stream \"\(stream.name)\" is not recorded: a recording holds one "
                            + "video stream, and audio streams named audio, audio2 …",
                        advice: "name the appsinks of those to record: appsink name=video, appsink "
                            + "name=audio, appsink name=audio2"))
            } else if !outputs.isEmpty || !destinations.isEmpty, !stream.isObserved {
                run.warn(
                    PipelineError(
                        .wrongEnds, message: "no output takes the stream \"\(stream.name)\"",
                        advice: "remove its appsink from the capture, or add an output that begins "
                            + "with appsrc name=\(stream.name)"))
            }
        }
    }

    /// Changes the state of a capture, unless its source does not answer and it is started later.
    ///
    /// - Returns: Whether the state was reached.
    @discardableResult
    private func enter(
        _ state: PipelineState, _ capture: Capture
    ) async throws(PipelineError) -> Bool {
        let restart = restarts.first { $0.capture === capture }
        guard restart?.isWaiting != true, !isGivenUp(capture) else { return false }
        do throws(PipelineError) {
            try await capture.pipeline.setState(state)
        } catch {
            guard !isGivenUp(capture) else { return false }
            guard restart?.waits(becauseOf: error) == true else {
                run.note(error, of: .capture(name(of: capture)))
                throw error
            }
            return false
        }
        return true
    }

    /// Whether all streams of a capture are optional, and it has failed before the first sample.
    private func isGivenUp(_ capture: Capture) -> Bool {
        let streams = streams.filter { $0.belongs(to: capture) }
        return streams.allSatisfy {
            plan.optionalStreams.contains($0.name) && $0.branch.loss != nil
        }
    }

    /// Opens displays and devices, whose accepted caps are known only then.
    ///
    /// - Returns: The outputs that can be started.
    private func openOutputs() async -> [BridgeOutput] {
        var open: [BridgeOutput] = []
        for output in outputs {
            let pipeline = output.output.pipeline
            do throws(PipelineError) {
                try await pipeline.openDevices()
                // An `autovideosink` without a display posts an error, but its state change
                // succeeds.
                if pipeline.failure == nil { open.append(output) }
            } catch {
                run.outputEnded(output.name, error)
            }
        }
        return open
    }

    private func startOutputs(_ outputs: [BridgeOutput]) async {
        for output in outputs {
            output.output.prepare()
            do throws(PipelineError) {
                try await output.output.pipeline.setState(.playing)
            } catch {
                output.output.close()
                run.outputEnded(output.name, error)
            }
        }
        for output in destinations {
            let camera = streams.first { $0.name == output.pictures }?.branch.sink
            output.destination.begin(output.kinds) {
                _ = camera?.requestKeyFrame()
            } onFailure: { [run] error in
                run.outputEnded(output.name, error)
            }
        }
        for recording in recordings where recording.startsWithBridge {
            do throws(PipelineError) {
                try recording.recorder.start()
            } catch {
                run.outputEnded(recording.name, error)
            }
        }
    }

    /// Completes what captures record by themselves, and stops the captures.
    func stop(_ captures: [Capture]) async {
        await withTaskGroup { group in
            for capture in captures {
                let streams = streams.filter { $0.belongs(to: capture) }
                let hasEnded = run.ending == .eos && streams.allSatisfy { $0.branch.isEnded }
                let part = BridgePart.capture(name(of: capture))
                group.addTask { [run] in
                    let problem = await capture.finish(hasEnded: hasEnded) { run.isStopRequested }
                    do throws(PipelineError) {
                        try await capture.leave()
                        if let problem = problem ?? capture.missingFile { throw problem }
                    } catch { run.note(error, of: part) }
                }
            }
        }
    }

    func finishOutputs() async {
        let stallTimeout = plan.outputConfiguration.stallTimeout
        await withTaskGroup { group in
            for output in outputs {
                group.addTask { [run] in
                    do throws(PipelineError) {
                        try await output.output.finish(
                            stallTimeout: stallTimeout, toTheirEnd: run.ending == .eos)
                    } catch { run.note(error, of: .output(output.name)) }
                }
            }
            for output in destinations { group.addTask { await output.destination.finish() } }
            for recording in recordings {
                group.addTask { [run] in
                    do throws(PipelineError) {
                        try await recording.recorder.stop()
                    } catch { run.note(error, of: .output(recording.name)) }
                }
            }
        }
    }

    /// Notes a failure if a file was cut off. Some demuxers end such a file without an error; the
    /// duration that its container announces reveals it.
    func noteMissingTails() {
        guard run.ending == .eos else { return }
        for capture in captures where capture.isLive == false && !capture.isMeantToEndEarly {
            // A stream that is not captured may be longer than the captured streams.
            guard let read = capture.pipeline.positionOfDemuxers() else { continue }
            let reached = streams.filter { $0.belongs(to: capture) }.map(\.reached).max() ?? .zero
            guard let announced = capture.pipeline.queryDuration().map({ MediaTime($0) }) else {
                continue
            }
            // Streams of one file differ in length by a little.
            let usual = MediaTime(seconds: max(0.3, announced.seconds / 10))
            // Muxers state either when the file ends or how long it is.
            let length = max(reached, MediaTime(read))
            let end = length + MediaTime(capture.pipeline.startOfDemuxers)
            guard announced - (end > announced + usual ? length : end) > usual else { continue }
            run.note(
                PipelineError(
                    .streamFailed,
                    message: "the capture ended at \(reached), but its container announces "
                        + "\(announced): the file is cut off",
                    advice: "check the file; the outputs are complete up to this time"),
                of: .capture(name(of: capture)))
        }
    }

    /// Notes a failure for streams that ended without a frame, and for streams that were due when a
    /// limit ended the run. Must be called before the captures stop, which ends all streams.
    func noteLostStreams() {
        let silent = streams.filter {
            $0.branch.arrivedSamples == 0 && ($0.branch.isEnded || isOverdue($0))
        }
        guard !silent.isEmpty else { return }
        guard silent.count < streams.count else {
            guard run.failures.isEmpty, run.ending != .interrupt else { return }
            return run.fail(
                PipelineError(
                    .noFrames, message: "the capture ended without a single frame",
                    advice: "run only the capture: gst-launch-1.0 "
                        + "\(plan.captures.first?.text.onOneLine ?? "") ! fakesink"))
        }
        for stream in silent where stream.branch.loss == nil {
            // The error of its capture says why.
            guard
                !captures.contains(where: { stream.belongs(to: $0) && $0.pipeline.failure != nil })
            else { continue }
            run.note(
                loss: stream.branch.isEnded ? .endedEmpty(stream) : missingStreamError(stream),
                of: stream.name)
        }
    }

    /// Whether a stream that has not begun was due when a limit ended the run. A file's stream is
    /// awaited until it cannot come any more; a live one has two seconds to begin.
    private func isOverdue(_ stream: BridgeStream) -> Bool {
        guard stream.isTaken, !stream.branch.isOptional,
            !plan.optionalStreams.contains(stream.name),
            run.ending == .frames || run.ending == .duration
        else { return false }
        let isOfFile = captures.contains { stream.belongs(to: $0) && $0.isLive == false }
        guard !isOfFile else { return true }
        let end = streams.map(\.reached).max() ?? .zero
        return limits.span(to: end).map { $0 >= Self.beginning } ?? false
    }

    /// The time in which a live stream begins.
    private static let beginning = MediaTime(nanoseconds: 2_000_000_000)

    private func missingStreamError(_ stream: BridgeStream) -> PipelineError {
        let element = stream.branch.sink.element
        let standstill = captures.first { stream.belongs(to: $0) }
            .map { Standstill(of: $0.pipeline, starving: [element]) }
        return PipelineError(
            .noFrames, element: element.path,
            message: "the stream \"\(stream.name)\" delivered nothing before the run ended"
                + (standstill?.inBrackets ?? ""),
            advice: standstill?.advice
                ?? "check its source, or remove its appsink from the capture")
    }
}

extension PipelineError {
    fileprivate static func endedEmpty(_ stream: BridgeStream) -> PipelineError {
        PipelineError(
            .noFrames, element: stream.branch.sink.element.path,
            message: "the stream \"\(stream.name)\" ended without a single frame",
            advice: "check the elements before its appsink: a decoder may not accept this stream, "
                + "or a filter may drop everything")
    }
}
