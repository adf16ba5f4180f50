import ArgumentParser
import MediaBridge

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a bridge from captures to outputs.",
        discussion: """
            The bridge is a pipeline file, or strings, or a file with strings added to it. A string \
            without an appsink (appsrc) gets one at its open end; streams of several kinds are named: \
            appsink name=video, appsink name=audio.
            """)

    @Argument(help: "A pipeline file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String?

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

    @Option(help: "A progress line on standard error; auto: on a terminal.")
    var progress = ProgressMode.auto

    @Option(help: "What to tell at the end, on standard output.")
    var report = ReportMode.text

    func validate() throws {
        guard file != nil || capture != nil else {
            throw ValidationError("a pipeline file or --capture is needed")
        }
        if let frames, frames < 1 { throw ValidationError("--frames takes a number from 1 on") }
        if file == nil, !settings.isEmpty {
            throw ValidationError("--set goes with a pipeline file")
        }
        for setting in settings where !setting.dropFirst().contains("=") {
            throw ValidationError("--set takes NAME=VALUE, not \"\(setting)\"")
        }
        for filter in filters {
            do { _ = try FilterName.filter(filter) } catch {
                throw ValidationError("\(error)")
            }
        }
    }

    func run() async throws {
        let bridge: Bridge
        do {
            bridge = try Bridge(plan())
        } catch {
            // The report is promised, whatever happens.
            if report == .json { ReportPrinter(mode: report).print(.nothing(because: error)) }
            throw error
        }
        let interruption = Interruption { bridge.stop() }
        defer { interruption.end() }
        let progress = Progress(of: bridge, mode: progress)
        let result = await bridge.run()
        await progress.end()
        ReportPrinter(mode: report).print(result)
        for failure in result.failures { Terminal.complain(failure) }
        if !result.failures.isEmpty { throw ExitCode(1) }
    }

    private func plan() throws -> BridgePlan {
        var plan = BridgePlan(captures: [])
        if let file {
            var values: [String: String] = [:]
            for setting in settings {
                let parts = setting.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                values[String(parts[0])] = String(parts[1])
            }
            plan = try PipelineFile(path: file).plan(setting: values)
        }
        if let capture {
            plan.captures = [BridgePlan.Named(name: BridgePlan.defaultCapture, text: capture)]
        }
        if plan.captures.isEmpty {
            let found = try DefaultCapture.find()
            Terminal.say("capturing the \(found.about)")
            plan.captures = [BridgePlan.Named(name: BridgePlan.defaultCapture, text: found.text)]
        }
        for text in outputs { plan.outputs.append(OutputArgument.parse(text, among: plan.outputs)) }
        for filter in filters { plan.processors.append(try FilterName.filter(filter)) }
        if let frames { plan.frameLimit = frames }
        if let duration { plan.durationLimit = duration.value }
        return plan
    }
}
