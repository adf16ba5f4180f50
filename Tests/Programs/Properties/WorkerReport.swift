import Foundation
import Synchronization
import TestSupport

/// The messages of a worker until it ended, normally or not.
struct WorkerReport: Sendable {
    /// The number of each broken case, with its first complaint.
    var complaints: [(Int, Complaint)] = []
    /// The last case that the worker began.
    var last: Int?

    static func of(_ arguments: [String]) async throws -> WorkerReport {
        let itself = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let result = try await Tool.run(itself, ["--worker"] + arguments, within: .seconds(3600))
        return WorkerReport(result)
    }

    init(_ result: ChildProcess.Result) {
        var isOpen = false
        var reported: Set<Int> = []
        for line in result.output.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { continue }
            switch words[0] {
            case "begin": (last, isOpen) = (Int(words[1]), true)
            case "end": isOpen = false
            case "hang": add(Complaint(kind: .hang, text: "it did not end"), &reported)
            case "broken":
                let parts = words[1].split(separator: ":", maxSplits: 1)
                let text = parts.count > 1 ? parts[1].trimmingCharacters(in: [" "]) : ""
                let kind = parts.first.flatMap { Complaint.Kind(rawValue: String($0)) } ?? .failed
                add(Complaint(kind: kind, text: text), &reported)
            default: break
            }
        }
        if isOpen {
            let said = result.errors.suffix(400).split(separator: "\n").joined(separator: " | ")
            add(
                Complaint(kind: .crash, text: "the process ended with \(result.status): \(said)"),
                &reported)
        }
    }

    private mutating func add(_ complaint: Complaint, _ reported: inout Set<Int>) {
        guard let last, reported.insert(last).inserted else { return }
        complaints.append((last, complaint))
    }
}

/// Hands out ranges of cases, until enough have run or time is up.
final class Batches: Sendable {
    private let at: Mutex<Int>
    private let options: PropertyRun.Options
    private let size: Int
    private let start: ContinuousClock.Instant

    init(_ options: PropertyRun.Options, size: Int, since start: ContinuousClock.Instant) {
        self.options = options
        self.size = size
        self.start = start
        at = Mutex(options.from)
    }

    func next() -> Range<Int>? {
        let isOver = options.seconds.map { ContinuousClock.now - start > .seconds($0) } ?? false
        guard !isOver else { return nil }
        let end = options.seconds == nil ? options.from + options.cases : Int.max
        return at.withLock { at in
            guard at < end else { return nil }
            let range = at..<min(end, at + size)
            at = range.upperBound
            return range
        }
    }

    /// The number of cases handed out.
    var taken: Int { at.withLock { $0 } - options.from }
}
