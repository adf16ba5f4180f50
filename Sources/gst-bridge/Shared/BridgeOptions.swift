import ArgumentParser
import MediaBridge
import MediaBridgeWebRTC

/// The options of all commands that run a bridge.
struct BridgeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where frames come from.", valueName: "string"))
    var capture: String?

    @Option(
        name: .customLong("output"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Where frames go; may be repeated.", valueName: "[name=]string"))
    var outputs: [String] = []

    @Option(
        name: .customLong("filter"),
        help: ArgumentHelp(
            "A step in between: \(FilterName.all.map(\.name).joined(separator: ", ")).",
            valueName: "name[=value]"))
    var filters: [String] = []

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("A variable of the pipeline file.", valueName: "name=value"))
    var settings: [String] = []

    @Option(help: ArgumentHelp("Ends after so many frames.", valueName: "n"))
    var frames: Int?

    @Option(
        help: ArgumentHelp("Ends after so much media time: 10s, 500ms, 2m, 1h.", valueName: "time"))
    var duration: DurationArgument?

    @Flag(
        help: """
            Starts a live capture again when it has ended, failed, or given nothing for ten seconds: \
            a camera that was off, a network that was away.
            """)
    var restart = false

    @Option(help: "A progress line on standard error; auto: on a terminal.")
    var progress = ProgressMode.auto

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    @Flag(
        name: .shortAndLong,
        help: """
            Prints the negotiated caps of every pad, and other properties that change, on standard error \
            as gst-launch-1.0 does.
            """)
    var verbose = false

    @Flag(name: .shortAndLong, help: "Prints the tags that are found, on standard error.")
    var tags = false

    @Option(
        help: ArgumentHelp(
            "Runs strings of others, which may write in this directory alone.", valueName: "dir"),
        completion: .directory)
    var untrusted: String?

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames takes a number from 1 on") }
        for setting in settings where !setting.dropFirst().contains("=") {
            throw ValidationError("--set takes NAME=VALUE, not \"\(setting)\"")
        }
        for filter in filters {
            do { _ = try FilterName.filter(filter) } catch {
                throw ValidationError("\(error)")
            }
        }
    }

    /// Returns the plan for a pipeline file and the options. Without a capture it uses a device
    /// that is present, or a test picture.
    ///
    /// - Parameter policy: What strings may use if they are untrusted; otherwise `nil`.
    private func plan(file: String?, under policy: UntrustedPolicy?) throws -> BridgePlan {
        var plan = BridgePlan(captures: [])
        if let file {
            var values: [String: String] = [:]
            for setting in settings {
                let parts = setting.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                values[String(parts[0])] = String(parts[1])
            }
            let read = try PipelineFile(path: file)
            plan = try read.plan(setting: values)
            for variable in read.unusedVariables {
                Terminal.say("\(file): the variable \"\(variable.name)\" is not used")
            }
        }
        if let capture {
            plan.captures = [BridgePlan.Named(name: BridgePlan.defaultCapture, text: capture)]
        }
        plan.untrusted = policy
        if plan.captures.isEmpty, policy != nil {
            throw PipelineError(
                .refused,
                message: "the file has no capture, and there are no devices with --untrusted",
                advice: "--capture with a string")
        }
        if plan.captures.isEmpty {
            let found = try DefaultCapture.find()
            Terminal.say("capturing the \(found.about)")
            plan.captures = [BridgePlan.Named(name: BridgePlan.defaultCapture, text: found.text)]
        }
        for text in outputs { plan.outputs.append(OutputArgument.parse(text, among: plan.outputs)) }
        for filter in filters { plan.processors.append(try FilterName.filter(filter)) }
        if let frames { plan.frameLimit = frames }
        if restart { plan.restart = RestartPolicy() }
        if let duration { plan.durationLimit = duration.value }
        return plan
    }

    /// Runs the bridge for a pipeline file and the options until it ends or a signal arrives, and
    /// prints the report; sandboxed if `--untrusted` is given.
    ///
    /// - Parameters:
    ///   - replays: Saves replays while the bridge runs; `nil`: nothing does.
    ///   - complete: Adds to the plan. With `--untrusted`, relative paths then refer to its
    ///     directory.
    ///   - onStart: Called with the bridge before it runs.
    func run(
        file: String?, replays: ReplaySaver? = nil,
        _ complete: (inout BridgePlan) throws -> Void = { _ in },
        onStart: (Bridge) -> Void = { _ in }
    ) async throws {
        let bridge: Bridge
        do {
            let confinement = untrusted.map { Confinement(directory: $0, file: file) }
            var plan = try plan(file: file, under: confinement?.enter())
            try confinement?.moveInside()
            try complete(&plan)
            if plan.hasAddresses {
                // A recording takes what comes as it is; outputs and filters take pictures.
                try await plan.connectAddresses(
                    decodingCaptures: plan.recordings.isEmpty || !plan.outputs.isEmpty
                        || !plan.processors.isEmpty)
            }
            bridge = try Bridge(plan)
        } catch {
            // Scripts rely on a report even after a failure.
            if report == .json { ReportPrinter(mode: report).print(.nothing(because: error)) }
            throw error
        }
        if report == .json, let name = bridge.writersToStandardOutput.first {
            throw ValidationError(
                "--report json and \"\(name)\" cannot both have standard output; let \(name) write "
                    + "to a file or a FIFO, or take --report text, which goes to standard error")
        }
        let details = DetailPrinter()
        bridge.onEvent { event in
            switch event {
            case .failed(let error), .stalled(let error): details.complain(error)
            case .warned(let warning): details.warn(warning)
            case .restarting(let capture, let attempt, let delay, let reason):
                details.announce(
                    "starting the capture \"\(capture)\" again in \(delay) (attempt \(attempt)): "
                        + "\(reason)")
            }
        }
        if verbose { bridge.onPropertyChange { details.show("\($0)") } }
        if tags { bridge.onTags { details.show("\($0)") } }
        onStart(bridge)
        let result = await Interruption.during {
            bridge.stop()
        } _: {
            let progress = Progress(of: bridge, mode: progress)
            let result = await bridge.run()
            await progress.end()
            return result
        }
        let saved = await replays?.end()
        await details.end()
        ReportPrinter(mode: report).print(
            result, recorders: bridge.recorders, replays: saved?.files)
        for name in result.streamsThatWereToCome {
            Terminal.say("the stream \(name) had given nothing yet when the run was ended")
        }
        if !result.failures.isEmpty || saved?.hasFailed == true { throw ExitCode(1) }
    }
}
