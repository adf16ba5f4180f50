import ArgumentParser
import Foundation
import MediaBridge

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Tells what this machine has and lacks, and checks pipeline files.",
        discussion:
            "Exit status 1 where something is broken; what is merely missing breaks nothing.")

    @Argument(help: "Pipeline files to check.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String] = []

    @Flag(help: "One JSON object on standard output.")
    var json = false

    func run() throws {
        let diagnosis = Diagnosis(files: files)
        if json {
            print(try ReportPrinter.line(of: JSON(diagnosis)))
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
        struct Check: Encodable {
            let name: String
            let verdict: String
            let detail: String
            let advice: String?
        }
        let ok: Bool
        let checks: [Check]

        init(_ diagnosis: Diagnosis) {
            ok = diagnosis.isHealthy
            checks = diagnosis.findings.map {
                Check(
                    name: $0.name, verdict: $0.verdict.rawValue, detail: $0.detail,
                    advice: $0.advice)
            }
        }
    }
}
