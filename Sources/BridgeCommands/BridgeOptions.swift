internal import ArgumentParser
package import MediaBridge

/// The options of all commands that run a bridge.
struct BridgeOptions: ParsableArguments {
    @Option(
        name: .customLong("capture"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Capture: a gst-launch string (e.g. "v4l2src ! videoconvert") or whep:URL. Repeatable with \
            different names (e.g. video=v4l2src, audio=pulsesrc). A stream with a question mark (audio?=pulsesrc, \
            appsink name=audio?) may be missing. Default: the pipeline file's capture; record \
            without a file: the camera, the screen or a test pattern; for audio only, the microphone.
            """,
            valueName: "[name=]string"))
    var captures: [String] = []

    @Option(
        name: .customLong("output"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Output: a gst-launch string (e.g. autovideosink) or "whip:URL [TOKEN]". Repeatable. The report \
            lists it under <name> (default: output).
            """,
            valueName: "[name=]string"))
    var outputs: [String] = []

    @Option(
        name: .customLong("queue"),
        help: ArgumentHelp(
            """
            How much may wait in front of the outputs, or of one output: a time (3s, 500ms), a size (20MB) or a \
            number of buffers (100). A live capture then drops the oldest frame, a file waits. Repeatable. \
            Default: 4 frames of a live capture, 64 MB of its encoded media, 4 to 16 frames of a file.
            """,
            valueName: "[output=]limit"))
    var queues: [QueueArgument] = []

    @Option(
        name: .customLong("filter"),
        help: ArgumentHelp(
            """
            Video filter: \(VideoFilter.names.joined(separator: ", ")). Of one video stream, \
            or of all. Repeatable; filters run in the given order.
            """,
            valueName: "[stream:]name[=value]"),
        completion: .list(VideoFilter.names))
    var filters: [String] = []

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Set a variable of the pipeline file (e.g. file=out.mkv). Repeatable.",
            valueName: "name=value"))
    var settings: [String] = []

    @Option(
        help: ArgumentHelp("Stop after <n> frames (e.g. 300). Default: no limit.", valueName: "n"))
    var frames: Int?

    @Option(
        help: ArgumentHelp(
            "Stop after <duration> of media (e.g. 500ms, 10s, 2m, 1h). Default: no limit.",
            valueName: "duration"))
    var duration: DurationArgument?

    @Flag(
        help: """
            Restart a live capture that ends, fails or delivers nothing for 10 to 15 s, and a connection that ends or \
            fails; wait for a device or server that does not answer yet. Attempts continue without limit, 0.5 s to 30 s apart.
            """)
    var restart = false

    @Option(help: "Print a progress line on standard error; auto: only on a terminal.")
    var progress = ProgressMode.auto

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    @Flag(
        name: .shortAndLong,
        help: """
            Print the negotiated caps of every pad and other property changes on standard error, as \
            gst-launch-1.0 -v does.
            """)
    var verbose = false

    @Flag(name: .shortAndLong, help: "Print the tags (metadata) of the streams on standard error.")
    var tags = false

    @Option(
        help: ArgumentHelp(
            "Run an untrusted pipeline in a sandbox that can write only to <dir>.",
            valueName: "dir"),
        completion: .directory)
    var untrusted: String?

    @Option(
        help: ArgumentHelp(
            """
            Take the requests of 'gst-bridge ctl' from this Unix socket (e.g. /run/cam.sock), which only this user can \
            open.
            """,
            valueName: "path"),
        completion: .file())
    var control: String?

    @OptionGroup var plugins: PluginOptions

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames must be 1 or more") }
        let names = captures.map { NamedArgument.split($0).name }
        guard captures.count < 2 || Set(names.compactMap(\.self)).count == captures.count else {
            throw ValidationError(
                "Give each --capture a different name: --capture video=STRING --capture audio=STRING"
            )
        }
        if untrusted != nil, control != nil || !plugins.directories.isEmpty {
            throw ValidationError("--control and --plugins cannot be combined with --untrusted")
        }
        for setting in settings where !setting.dropFirst().contains("=") {
            throw ValidationError("--set must be NAME=VALUE, not \"\(setting)\"")
        }
        for filter in filters {
            do { _ = try VideoFilter.named(filter) } catch {
                throw ValidationError("\(error)")
            }
        }
    }

    /// Checks the options that need a pipeline file.
    func check(hasFile: Bool) throws {
        guard !hasFile else { return }
        if untrusted != nil, captures.isEmpty {
            throw ValidationError("--untrusted requires a pipeline file or --capture")
        }
        if !settings.isEmpty { throw ValidationError("--set requires a pipeline file") }
    }

    /// Returns the plan for a pipeline file and the options.
    ///
    /// - Parameter policy: What strings may use if they are untrusted; otherwise `nil`.
    private func plan(file: String?, under policy: UntrustedPolicy?) throws -> BridgePlan {
        var plan = BridgePlan(captures: [])
        var unused: [String] = []
        if let file {
            var values: [String: String] = [:]
            for setting in settings {
                let parts = setting.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                values[String(parts[0])] = String(parts[1])
            }
            let read = try PipelineFile(path: file)
            plan = try read.plan(setting: values)
            unused = read.unusedVariables.map(\.name)
        }
        if !captures.isEmpty {
            plan.captures = captures.map { argument in
                let (name, text) = NamedArgument.split(argument)
                return BridgePlan.Named(name: name ?? BridgePlan.defaultCapture, text: text)
            }
        }
        for text in outputs { plan.outputs.append(OutputArgument.parse(text, among: plan.outputs)) }
        try setQueues(of: &plan)
        plan.plugins += plugins.directories
        plan.untrusted = policy
        if let address = plan.addresses.first, policy != nil {
            throw PipelineError(
                .refused, message: "an untrusted string cannot connect to a server: \(address)")
        }
        for name in unused {
            Terminal.log("\(file ?? ""): the variable \"\(name)\" is not used")
        }
        if plan.captures.isEmpty, policy != nil {
            throw PipelineError(
                .refused,
                message: "the file has no capture, and --untrusted allows no devices",
                advice: "--capture STRING")
        }
        for filter in filters { try plan.addFilter(filter) }
        if let frames { plan.frameLimit = frames }
        if restart { plan.restart = RestartPolicy() }
        if let duration { plan.durationLimit = duration.value }
        return plan
    }

    /// Replaces this process with the one that connects to the addresses of a plan.
    private func replaceProcess(file: String?) throws {
        // The other program reads it again.
        if let file, FileSize.of(file) == nil {
            throw PipelineError(
                .badFile, message: "\(file) has addresses, and is not a regular file",
                advice: "\(NetworkProgram.name) with the same arguments")
        }
        try NetworkProgram.replaceProcess(for: "whep: and whip: addresses")
    }

    /// Sets the limits of the queues in front of outputs.
    private func setQueues(of plan: inout BridgePlan) throws {
        let strings = plan.outputs.filter { !BridgePlan.isAddress($0.text, scheme: "whip") }
        for queue in queues {
            guard let output = queue.output else {
                plan.outputConfiguration.queue = queue.limit
                continue
            }
            guard strings.contains(where: { $0.name == output }) else {
                throw ValidationError(
                    "--queue: no gst-launch string is the output \"\(output)\"")
            }
            plan.queues[output] = queue.limit
        }
        guard queues.isEmpty || !strings.isEmpty else {
            throw ValidationError(
                "--queue limits what waits in front of gst-launch strings, and no output is one")
        }
    }

    /// Runs the bridge for a pipeline file and the options until it ends or a signal arrives, and
    /// prints the report; sandboxed if `--untrusted` is given.
    ///
    /// - Parameters:
    ///   - requests: Pass requests to the recorder while the bridge runs; `nil`: nothing does.
    ///   - defaultCapture: Returns the capture if neither the file nor an option has one.
    ///   - complete: Adds to the plan. With `--untrusted`, relative paths then refer to its
    ///     directory.
    ///   - onStart: Called with the bridge and its control before it runs.
    ///   - onEnd: Called when it has ended. Returns whether what else was to be done succeeded.
    func run(
        file: String?, requests: RecordingRequests? = nil,
        defaultCapture: () throws -> String = DefaultCapture.announced,
        _ complete: (inout BridgePlan) throws -> Void = { _ in },
        onStart: (Bridge, BridgeControl) -> Void = { _, _ in },
        onEnd: () async -> Bool = { true }
    ) async throws {
        let bridge: Bridge
        var socket: ControlSocket?
        defer { socket?.close() }
        do {
            let confinement = untrusted.map { Confinement(directory: $0, file: file) }
            var plan = try plan(file: file, under: confinement?.enter())
            if !plan.addresses.isEmpty, NetworkProgram.connector == nil {
                try replaceProcess(file: file)
            }
            if plan.captures.isEmpty {
                let text = try defaultCapture()
                plan.captures = [BridgePlan.Named(name: BridgePlan.defaultCapture, text: text)]
            }
            try confinement?.moveInside()
            try complete(&plan)
            if !plan.addresses.isEmpty {
                // A recording takes encoded media; outputs and filters take frames.
                let decodesCaptures =
                    plan.recordings.isEmpty || !plan.outputs.isEmpty || !plan.processors.isEmpty
                    || !plan.streamProcessors.isEmpty
                try await NetworkProgram.connector?(&plan, decodesCaptures)
            }
            socket = try control.map { try ControlSocket($0) }
            bridge = try Bridge(plan)
        } catch {
            // Scripts rely on a report even after a failure.
            if report == .json { report.print(.nothing(because: error)) }
            throw error
        }
        if report == .json, let name = bridge.writersToStandardOutput.first {
            throw ValidationError(
                "--report json and \"\(name)\" cannot both use standard output. Let \"\(name)\" "
                    + "write to a file or a FIFO, or use --report text, which goes to standard error"
            )
        }
        let details = DetailPrinter()
        bridge.onEvent { event in
            switch event {
            case .failed(let error), .stalled(let error): details.log(error)
            case .warned(let warning): details.warn(warning)
            case .waiting(let capture, let delay, let reason):
                details.announce(
                    "waiting for the capture \"\(capture)\", next attempt in \(delay): \(reason)")
            case .restarting(let capture, let attempt, let delay, let reason):
                details.announce(
                    "restarting the capture \"\(capture)\" in \(delay) (attempt \(attempt)): "
                        + "\(reason)")
            case .resumed(let capture, let time):
                let seconds = Text.decimal(MediaTime(time).seconds, 1)
                details.announce(
                    "the capture \"\(capture)\" is back: it delivers again after \(seconds) s")
            case .detected(let event): details.announce(event.news)
            }
        }
        if verbose { bridge.onPropertyChange { details.show("\($0)") } }
        if tags { bridge.onTags { details.show("\($0)") } }
        let control = BridgeControl(bridge)
        if let socket {
            socket.serve { await control.answer($0) }
            bridge.onEvent { NewsJSON($0)?.publish(to: socket) }
            for recorder in bridge.recorders {
                recorder.onEvent { NewsJSON($0)?.publish(to: socket) }
            }
        }
        onStart(bridge, control)
        let result = await Interruption.during {
            bridge.stop()
        } _: {
            let progress = Progress(of: bridge, mode: progress)
            let result = await bridge.run()
            await progress.end()
            return result
        }
        socket?.close()
        let saved = await requests?.end()
        let isDone = await onEnd()
        await details.end()
        report.print(result, recorders: bridge.recorders, replays: saved?.files)
        for name in result.streamsWithoutFrames {
            Terminal.log("the stream \(name) delivered nothing before the run ended")
        }
        if !result.failures.isEmpty || saved?.hasFailed == true || !isDone { throw ExitCode(1) }
    }
}

extension DefaultCapture {
    /// Finds the default capture, and prints what it captures.
    package static func announced() throws(PipelineError) -> String {
        let found = try find()
        Terminal.log("capturing the \(found.about)")
        return found.text
    }
}
