internal import ArgumentParser
internal import MediaBasics
internal import MediaBridge

/// The options of a recording around events.
struct EventOptions: ParsableArguments {
    @Option(
        name: .customLong("when"),
        help: ArgumentHelp(
            """
            Record only while a detector finds something: \
            \(StreamDetector.names.map { "\($0.name) (\($0.meaning))" }.joined(separator: ", ")). \
            Repeatable: any of them. Default: record everything.
            """,
            valueName: "detector[=options]"),
        completion: .list(StreamDetector.names.map(\.name)))
    var conditions: [DetectorArgument] = []

    @Option(
        help: ArgumentHelp(
            "Begin each file of --when <duration> before the event, with a key frame. Default: 5s.",
            valueName: "duration"))
    var before: RollArgument?

    @Option(
        help: ArgumentHelp(
            "End each file of --when <duration> after the event. Default: 10s.",
            valueName: "duration"))
    var after: RollArgument?

    @Option(
        help: ArgumentHelp(
            """
            Run <command> for each event of --when once its file is complete, for at most a minute. The shell gets for \
            {kind} the detector, for {file} the file, for {time} the seconds in it and for {picture} that of \
            --event-pictures.
            """,
            valueName: "command"))
    var onEvent: String?

    @Flag(
        help: """
            Write a picture of the beginning of each event of --when beside its file: cam-1.jpg for cam.mkv.
            """)
    var eventPictures = false

    var isGiven: Bool { !conditions.isEmpty }

    func validate() throws {
        if !isGiven, before != nil || after != nil {
            throw ValidationError("--before and --after require --when")
        }
        if !isGiven, onEvent != nil || eventPictures {
            throw ValidationError("--on-event and --event-pictures require --when")
        }
        if !eventPictures, onEvent?.contains("{picture}") == true {
            throw ValidationError("{picture} requires --event-pictures")
        }
    }

    /// What is done for each event; `nil` if nothing is.
    func actions(of plan: BridgePlan) -> EventActions? {
        guard onEvent != nil || eventPictures else { return nil }
        return EventActions(
            command: onEvent, writesPictures: eventPictures, of: plan.detectors.map(\.name))
    }

    /// Adds the detectors to a plan, and makes its recording depend on them.
    func apply(to plan: inout BridgePlan) {
        guard isGiven else { return }
        for condition in conditions {
            var detector = condition.detector
            let count = plan.detectors.count { $0.name.hasPrefix(detector.name) }
            if count > 0 { detector.name += "-\(count + 1)" }
            plan.detectors.append(detector)
        }
        var events = RecordedEvents()
        if let before { events.before = before.value }
        if let after { events.after = after.value }
        plan.recordings[0].events = events
    }
}

/// A detector and its options: `motion`, `motion=0.8`, `sound`.
struct DetectorArgument: ExpressibleByArgument, Sendable {
    let detector: StreamDetector

    init?(argument: String) {
        guard let detector = try? StreamDetector(parsing: argument) else { return nil }
        self.detector = detector
    }
}

/// A duration that may be zero: `5s`, `0`.
struct RollArgument: ExpressibleByArgument {
    let value: Duration

    init?(argument: String) {
        guard let value = Duration(text: argument, allowsZero: true) else { return nil }
        self.value = value
    }
}
