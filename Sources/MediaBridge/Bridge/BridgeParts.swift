// Makes the parts of a bridge from its plan.

/// A capture of a bridge, with its streams and what starts it again.
struct BridgeCapture: Sendable {
    let capture: Capture
    /// The names of the streams in the bridge, and their branches.
    let streams: [(name: String, branch: CaptureBranch)]
    /// `nil` if the capture is not started again.
    let restart: CaptureRestarts?
}

/// An output of a bridge and its name.
struct BridgeOutput: Sendable {
    let name: String
    let output: Output
}

extension BridgePlan {
    // MARK: Captures

    func captureParts(in run: BridgeRun) throws(PipelineError) -> [BridgeCapture] {
        let referred = Set(outputs.flatMap { PipelineText($0.text).undefinedChainStarts })
        let required = Set(MediaKind.allCases.filter { requires($0) }.map(\.rawValue))
            .union(
                outputs.flatMap { PipelineText($0.text).mentions(of: ["appsrc"]) }.compactMap(
                    \.name))
        return try captures.map { named throws(PipelineError) in
            let capture = try named.locating { text throws(PipelineError) in
                try Capture(
                    text, depth: captureConfiguration.depth, referred: referred,
                    splits: captures.count == 1 && recordsBothKinds, required: required,
                    under: captureConfiguration.untrusted)
            }
            if let feed = feeds[named.name] { capture.attach(feed) }
            let restart = try restart.map { policy throws(PipelineError) in
                try CaptureRestarts(capture, name: named.name, policy: policy, run: run)
            }
            let names = capture.branches.map { branch in
                let isOnly = branch.name == Self.defaultCapture && capture.branches.count == 1
                return isOnly ? name(of: capture, named.name) : branch.name
            }
            let isOptional = optionalStreams.isSuperset(of: names)
            capture.pipeline.onFirstError { [run, weak restart, weak capture] error in
                if capture?.isLeaving == true {
                    // After a failure, the stop itself may make an element fail.
                    if run.failures.isEmpty { run.warn(error) }
                    return
                }
                if restart?.takeOver(error) == true { return }
                if isOptional, let capture, capture.arrivedSamples == 0 {
                    return capture.branches.forEach { $0.end(losing: error) }
                }
                run.fail(error, of: .capture(named.name))
            }
            return BridgeCapture(
                capture: capture, streams: Array(zip(names, capture.branches)), restart: restart)
        }
    }

    /// Returns the name of a capture's only stream: `audio` if the stream is not named and its string can
    /// deliver only audio.
    private func name(of capture: Capture, _ name: String) -> String {
        guard capture.isUnnamed, name == Self.defaultCapture,
            capture.branches[0].sink.offeredCaps?.isSound == true
        else { return name }
        let isRequested = outputs.contains { output in
            PipelineText(output.text).mentions(of: ["appsrc"]).contains { $0.name == name }
        }
        return isRequested ? name : BridgedText.audioBranch
    }

    /// Returns the media types of the streams, as far as their strings determine them. Streams that are decoded
    /// for processors are raw.
    func types(of branches: [(name: String, branch: CaptureBranch)]) -> [String: Caps] {
        var types: [String: Caps] = [:]
        for (name, branch) in branches {
            guard let kinds = branch.sink.offeredCaps?.kinds else { continue }
            types[name] = kinds
            if processors(of: name).decode(kinds) {
                types[name] = try? Caps(kinds.isSound ? "audio/x-raw" : "video/x-raw").kinds
            }
        }
        return types
    }

    // MARK: Names

    /// Checks the names of streams, outputs and recordings, and the references to them.
    func check(streams names: [String]) throws(PipelineError) {
        if let twice = Self.firstTwice(names) {
            throw PipelineError(
                .wrongEnds, message: "two captures have a stream named \"\(twice)\"",
                advice: "name each appsink: appsink name=camera")
        }
        if let unknown = streamProcessors.keys.sorted().first(where: { !names.contains($0) }) {
            throw PipelineError(
                .wrongEnds,
                message: "a filter is for the stream \"\(unknown)\", but the captures have only "
                    + Bridge.list(names),
                advice: "give the appsink the name of the stream: appsink name=\(unknown)")
        }
        let outputs = outputs.map(\.name)
        // The report counts each under its name.
        if let twice = Self.firstTwice(
            outputs + recordings.map(\.name) + destinations.map(\.name))
        {
            throw PipelineError(
                .duplicateName, message: "two outputs are named \"\(twice)\"",
                advice: "give each output and each recording a different name")
        }
        if let unknown = queues.keys.sorted().first(where: { !outputs.contains($0) }) {
            throw PipelineError(
                .wrongEnds,
                message: "a queue limit is given for \"\(unknown)\", which is no output",
                advice: outputs.isEmpty
                    ? "add an output of that name" : "one of: \(Bridge.list(outputs))")
        }
    }

    private static func firstTwice(_ names: [String]) -> String? {
        names.first { name in names.count { $0 == name } > 1 }
    }

    // MARK: Outputs

    /// - Parameters:
    ///   - names: The names of the captures' streams.
    ///   - types: Their media types, as far as they are known.
    func outputParts(
        streams names: [String], types: [String: Caps], in run: BridgeRun
    ) throws(PipelineError) -> [BridgeOutput] {
        let elements = Set(captures.flatMap { PipelineText($0.text).elementNames })
        return try outputs.map { named throws(PipelineError) in
            var configuration = outputConfiguration
            configuration.queue = queues[named.name] ?? configuration.queue
            let output = try named.locating { text throws(PipelineError) in
                try Output(
                    text, configuration: configuration, streams: names, types: types,
                    elements: elements)
            }
            if let missing = output.branches.keys.sorted().first(where: { !names.contains($0) }) {
                throw PipelineError(
                    .wrongEnds,
                    message:
                        "output \"\(named.name)\" needs a stream \"\(missing)\", but the captures "
                        + "have only \(Bridge.list(names))",
                    advice: "give the appsink the name of the appsrc: appsink name=\(missing)")
            }
            try ClaimedFile.check(output.pipeline)
            output.failsForFormat()
            // The closures must not retain the output, which retains the pipeline that retains them.
            let (pipeline, name) = (output.pipeline, named.name)
            pipeline.onFirstError { [run] error in run.outputEnded(name, error) }
            pipeline.onMessage { [run] message in
                if case .endOfStream = message { run.outputEnded(name, nil) }
            }
            return BridgeOutput(name: name, output: output)
        }
    }

    func recordingParts(
        streams names: [String], in run: BridgeRun
    ) throws(PipelineError) -> [BridgeRecording] {
        try recordings.map { recording throws(PipelineError) in
            let name = recording.name
            let hasRing = recording.configuration.segments?.isRing == true
            let part = try BridgeRecording(recording, streams: names, detectors: detectors)
            part.recorder.onEvent { [run] event in
                switch event {
                case .failed(let error): run.outputEnded(name, error)
                case .diskNearlyFull(let free):
                    run.outputEnded(name, .nearlyFull(free, hasRing: hasRing))
                default: break
                }
            }
            return part
        }
    }

    // MARK: Detectors

    /// Returns the detectors of each stream.
    func detectors(streams names: [String]) throws(PipelineError) -> [String: [StreamDetector]] {
        if let twice = Self.firstTwice(detectors.map(\.name)) {
            throw PipelineError(
                .duplicateName, message: "two detectors are named \"\(twice)\"",
                advice: "give each detector a different name")
        }
        let streams = RecordedStream.taken(from: names)
        var found: [String: [StreamDetector]] = [:]
        for detector in detectors {
            let usual = streams.first { $0.value == RecordedStream(detector.kind) }?.key
            guard let name = detector.stream ?? usual, names.contains(name) else {
                let missing = detector.stream ?? detector.kind.rawValue
                throw PipelineError(
                    .wrongEnds,
                    message: "the detector \"\(detector.name)\" needs a stream \"\(missing)\", but "
                        + "the captures have only \(Bridge.list(names))",
                    advice: "name its appsink: appsink name=\(missing)")
            }
            found[name, default: []].append(detector)
        }
        return found
    }
}
