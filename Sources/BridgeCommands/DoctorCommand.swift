internal import ArgumentParser
internal import MediaBridge

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine for plugins and devices, and check pipeline files.",
        discussion: """
            The exit status is 1 if a check is BROKEN, for example a pipeline file whose plugin is not \
            installed. A missing plugin or device that no file needs is not an error.

            Examples:
              gst-bridge doctor
              gst-bridge doctor pipelines/*.yaml
              gst-bridge doctor --plugins .build/release
            """)

    @Argument(
        help: "Pipeline files to check (e.g. camera.yaml). Default: check the machine only.",
        completion: .file(extensions: ["yaml", "yml"]))
    var files: [String] = []

    @OptionGroup var plugins: PluginOptions

    @Flag(help: "Print one JSON object on standard output. Default: one line per check.")
    var json = false

    func run() throws {
        let diagnosis = Diagnosis(files: files, plugins: plugins.directories)
        if json {
            let json = JSON(ok: diagnosis.isHealthy, checks: diagnosis.findings)
            print(try JSONLine.text(of: json))
        } else {
            for finding in diagnosis.findings { print(line(finding).printable) }
        }
        if !diagnosis.isHealthy { throw ExitCode(1) }
    }

    private func line(_ finding: Diagnosis.Finding) -> String {
        let mark =
            switch finding.verdict {
            case .ok: "ok     "
            case .missing: "missing"
            case .broken: "BROKEN "
            }
        return "\(mark)  \(finding.name): \(finding.detail)"
            + (finding.advice.map { ". Try: \($0)" } ?? "")
    }

    private struct JSON: Encodable {
        let ok: Bool
        let checks: [Diagnosis.Finding]
    }
}
