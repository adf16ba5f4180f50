import Foundation
import TestSupport

/// Tries many cases in processes of their own, a few in each, and tells what broke.
struct PropertyRun: Sendable {
    struct Options: Sendable {
        var cases = 200
        var seed: UInt64 = 1
        /// The number of the first case.
        var from = 0
        /// Tries a few of the cases, in which each kind of change, way and container is there.
        var isSample = false
        /// Ends after so long, and not after so many cases.
        var seconds: Double?
        /// One case alone.
        var capture: MutatedCapture?
        /// Where its files are, and stay.
        var directory: String?
        /// Words, with a comma between: cases with one of them alone, and cases without any of those.
        var only: String?
        var without: String?

        /// The numbers of the cases of a sample: among the first 200, the last that add a kind of change, a way or
        /// a container.
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

        /// Whether a case is tried.
        func wants(_ capture: MutatedCapture) -> Bool {
            func has(_ words: String) -> Bool {
                words.split(separator: ",").contains { "\(capture)".contains($0) }
            }
            return only.map(has) ?? true && !(without.map(has) ?? false)
        }
    }
    private let options: Options
    /// Cases in one process.
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
            // What breaks at once breaks alike: a few are enough to be made small.
            let small = index < 6 ? try await Shrinking(one).run() : one
            Self.say("\ncase \(one.number): \(one.capture)\n  \(one.complaint)")
            Self.say("  smallest: \(small.capture)\n  \(small.complaint)")
            Self.say("  again: make properties CASE='\(small.capture)'")
            Self.say("  or: make properties SEED=\(options.seed) FROM=\(one.number) CASES=1")
        }
        return broken.isEmpty
    }

    /// Tries so many cases, in as many processes as it takes.
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

    /// At once, whoever reads it.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Tries one case in a process of its own.
    static func complaints(
        of capture: MutatedCapture, in directory: String? = nil
    ) async throws -> [Complaint] {
        let keep = directory.map { ["--keep", $0] } ?? []
        return try await WorkerReport.of(["--case", "\(capture)"] + keep).complaints.map(\.1)
    }
}
