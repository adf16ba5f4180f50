import Foundation
import TestSupport

/// Runs many cases in child processes, a few per process, and reports the broken ones.
struct PropertyRun: Sendable {
    struct Options: Sendable {
        var cases = 200
        var seed: UInt64 = 1
        /// The number of the first case.
        var from = 0
        /// Runs a few of the cases, which cover each kind of change, way and container.
        var isSample = false
        /// Ends after this many seconds, instead of after `cases`.
        var seconds: Double?
        /// A single case to run.
        var capture: MutatedCapture?
        /// The directory for its files, which are kept.
        var directory: String?
        /// Comma-separated words: run only cases that contain at least one of them, and no case that contains
        /// any of `without`.
        var only: String?
        var without: String?

        /// The numbers of the cases of a sample: of the first 200, counted from the end, each one that adds a
        /// new kind of change, way or container.
        var sample: Set<Int> {
            var seen: Set<String> = []
            return Set(
                (0..<200).reversed().filter { number in
                    let capture = MutatedCapture(seed: seed, number: number)
                    let traits =
                        [capture.way.rawValue, capture.container]
                        + capture.mutations.map(\.kind.rawValue)
                    defer { seen.formUnion(traits) }
                    return !seen.isSuperset(of: traits)
                })
        }

        /// Whether to run a case.
        func wants(_ capture: MutatedCapture) -> Bool {
            func has(_ words: String) -> Bool {
                words.split(separator: ",").contains { "\(capture)".contains($0) }
            }
            return only.map(has) ?? true && !(without.map(has) ?? false)
        }
    }
    private let options: Options
    /// Cases per process.
    private static let batch = 10
    private static let width = 2

    init(_ options: Options) { self.options = options }

    struct Broken: Sendable {
        var number: Int
        var capture: MutatedCapture
        var complaint: Complaint
    }

    /// - Returns: Whether every promise was kept.
    func run() async throws -> Bool {
        let start = ContinuousClock.now
        if let capture = options.capture {
            let complaints = try await Self.complaints(of: capture, in: options.directory)
            Self.say("\(capture)")
            if capture.way.isString { Self.say("  capture: \(capture.captureText)") }
            for complaint in complaints { Self.say("  \(complaint)") }
            if complaints.isEmpty { Self.say("  kept") }
            return complaints.isEmpty
        }
        Self.say("seed \(options.seed), cases from \(options.from)")
        let batches = Batches(
            options, size: options.isSample ? options.cases : Self.batch, since: start)
        let broken = try await withThrowingTaskGroup(of: [Broken].self) { group in
            for _ in 0..<Self.width {
                group.addTask {
                    var found: [Broken] = []
                    while let range = batches.next() { found += try await attempt(range) }
                    return found
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let seconds = (ContinuousClock.now - start).components.seconds
        Self.say("\(batches.taken) cases in \(seconds) s, \(broken.count) broken")
        for (index, one) in broken.sorted(by: { $0.number < $1.number }).enumerated() {
            // Many failures at once usually share a cause: only a few are shrunk.
            let small = index < 6 ? try await Shrinking(one).run() : one
            Self.say("\ncase \(one.number): \(one.capture)\n  \(one.complaint)")
            Self.say("  smallest: \(small.capture)\n  \(small.complaint)")
            Self.say("  again: make properties CASE='\(small.capture)'")
            Self.say("  or: make properties SEED=\(options.seed) FROM=\(one.number) CASES=1")
        }
        return broken.isEmpty
    }

    /// Runs the cases of a range; a crash continues in a new process.
    private func attempt(_ range: Range<Int>) async throws -> [Broken] {
        var broken: [Broken] = []
        var from = range.lowerBound
        while from < range.upperBound {
            var arguments = [
                "--seed", "\(options.seed)", "--from", "\(from)",
                "--cases", "\(range.upperBound - from)",
            ]
            if options.isSample { arguments.append("--sample") }
            if let only = options.only { arguments += ["--only", only] }
            if let without = options.without { arguments += ["--without", without] }
            let report = try await WorkerReport.of(arguments)
            for (number, complaint) in report.complaints {
                let capture = MutatedCapture(seed: options.seed, number: number)
                broken.append(Broken(number: number, capture: capture, complaint: complaint))
            }
            from = (report.last ?? from) + 1
        }
        return broken
    }

    /// Unbuffered, for readers of a pipe.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Runs one case in a child process.
    static func complaints(
        of capture: MutatedCapture, in directory: String? = nil
    ) async throws -> [Complaint] {
        let keep = directory.map { ["--keep", $0] } ?? []
        return try await WorkerReport.of(["--case", "\(capture)"] + keep).complaints.map(\.1)
    }
}
