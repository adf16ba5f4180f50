import Foundation
import TestSupport

/// Runs entries, and reports the wrong ones.
struct Table {
    private let entries: [Entry]
    private let bridge: String
    private let jobs: Int
    private let keep: String?

    /// The required share of right entries, relative to the entries that gst-launch-1.0 can run.
    private static let enough = 0.95

    init(_ entries: [Entry], bridge: String, jobs: Int, keep: String?) throws {
        guard FileManager.default.isExecutableFile(atPath: bridge) else {
            throw WildError("no \(bridge): swift build --product gst-bridge")
        }
        let isRelative = !bridge.hasPrefix("/")
        let here = FileManager.default.currentDirectoryPath
        self.bridge = isRelative ? "\(here)/\(bridge)" : bridge
        self.keep = keep.map { $0.hasPrefix("/") ? $0 : "\(here)/\($0)" }
        (self.entries, self.jobs) = (entries, jobs)
    }

    /// - Returns: Whether the corpus passes.
    func run() async throws -> Bool {
        guard let keep else {
            return try await withTemporaryDirectory { try await run(in: $0) }
        }
        try FileManager.default.createDirectory(atPath: keep, withIntermediateDirectories: true)
        return try await run(in: TemporaryDirectory(existing: keep))
    }

    private func run(in folder: TemporaryDirectory) async throws -> Bool {
        let films = try Films(in: TemporaryDirectory(existing: folder.file("films")))
        var (right, silent, refusedByBoth) = (0, 0, 0)
        var refusals: [String: String] = [:]
        try await withThrowingTaskGroup(of: (Trial, Verdict).self) { group in
            var waiting = entries[...]
            func startNext() {
                guard let entry = waiting.popFirst() else { return }
                let trial = Trial(
                    entry: entry, bridge: bridge, films: films,
                    folder: TemporaryDirectory(existing: folder.file(entry.id)))
                group.addTask { (trial, try await verdict(of: trial)) }
            }
            for _ in 0..<jobs { startNext() }
            for try await (trial, verdict) in group {
                startNext()
                switch verdict {
                case .right: right += 1
                case .refusedFairly(let alsoWhole):
                    refusedByBoth += alsoWhole ? 1 : 0
                    refusals[trial.entry.id] = trial.entry.expect.refusal?.why
                case .wrong(let differences, let isSilent):
                    silent += isSilent ? 1 : 0
                    notify(trial, differences, isSilent: isSilent)
                }
            }
        }
        let total = entries.count
        let wrong = total - right - refusals.count
        for (id, why) in refusals.sorted(by: { $0.key < $1.key }) {
            print("refused fairly: \(id): \(why)")
        }
        let running = total - refusedByBoth
        print(
            "\(right) of \(total) right (\(percent(right, of: total))), "
                + "\(refusals.count) refused fairly, \(wrong) wrong"
                + (silent > 0 ? ", \(silent) of them without a word" : ""))
        if refusedByBoth > 0 {
            print(
                "gst-launch-1.0 refuses \(refusedByBoth) of them as well: of those that it runs, \(right) of "
                    + "\(running) are right (\(percent(right, of: running)))")
        }
        return Double(right) >= Double(running) * Self.enough && silent == 0
    }

    private func percent(_ number: Int, of total: Int) -> String {
        let tenths = total == 0 ? 1000 : number * 1000 / total
        return "\(tenths / 10).\(tenths % 10) %"
    }

    private func verdict(of trial: Trial) async throws -> Verdict {
        try? FileManager.default.removeItem(atPath: trial.folder.path)
        let verdict = try await trial.run()
        if keep == nil { try? FileManager.default.removeItem(atPath: trial.folder.path) }
        return verdict
    }

    private func notify(_ trial: Trial, _ differences: [String], isSilent: Bool) {
        let what = differences.joined(separator: "; ")
        print("\(trial.entry.id): \(what)\(isSilent ? " (without a word)" : "")")
        print("    \(trial.command)")
        fflush(nil)
    }
}
