import Foundation

/// Tests promises one after the other, and prints the results.
struct FaultTable {
    private let promises: [Promise]
    private let options: Options

    init(_ promises: [Promise], _ options: Options) {
        self.promises = promises
        self.options = options
    }

    /// - Returns: Whether no promise was broken.
    func run() async -> Bool {
        Self.notify("| Fault | Promise | Measured | |\n|---|---|---|---|")
        let start = ContinuousClock.now
        var isWhole = true
        var broken: [String] = []
        for promise in promises {
            let finding: Finding
            do {
                finding = try await promise.check(options)
            } catch {
                finding = Finding("", complaints: ["\(error)"])
            }
            let verdict =
                switch finding.verdict {
                case .kept: "kept"
                case .broken: "**broken**"
                case .skipped: "skipped"
                }
            let measured = finding.measured.split(whereSeparator: \.isNewline)
                .joined(separator: " ").replacing("|", with: "/")
            Self.notify("| \(promise.fault) | \(promise.text) | \(measured) | \(verdict) |")
            if finding.verdict == .broken {
                isWhole = false
                broken.append(promise.name)
            }
        }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        FaultSuite.complain("\(promises.count) promises in \(seconds) s, seed \(options.seed)")
        if !isWhole { FaultSuite.complain("broken: \(broken.joined(separator: ", "))") }
        return isWhole
    }

    /// Unbuffered, so that a run can be followed.
    private static func notify(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
