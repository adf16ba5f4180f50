import Foundation
import Glibc
import TestSupport

/// Other processes that repair, overwrite, move, remove, replace, truncate or protect the files of a running
/// recording, at seeded moments.
enum OtherHands {
    static let promises = Subject.kinds.map { isCopy in
        Promise(
            name: "other-hands", fault: "Other processes change the files of a running recording",
            isCopy: isCopy,
            text:
                "repair and clip refuse them; moved and protected files are complete; a lost file is an error"
        ) { try await check($0, isCopy) }
    }

    private enum Action: String, CaseIterable {
        case repair, clip, move, protect
        // These destroy the file.
        case remove, replace, truncate

        var isFatal: Bool { self == .remove || self == .replace || self == .truncate }
    }

    private struct Trial: Sendable {
        let number: Int
        let subject: Subject
        /// Whether the recording has files of a second; it keeps two of them if it has a ring.
        let isSegmented: Bool
        let hasRing: Bool
        let steps: [(frame: Int, action: Action)]

        init(_ number: Int, _ subject: Subject, _ random: inout SeededGenerator) {
            self.number = number
            self.subject = subject
            isSegmented = .random(using: &random)
            hasRing = isSegmented && .random(using: &random)
            var actions = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in
                Action.allCases.filter { !$0.isFatal }.randomElement(using: &random)
            }
            if Bool.random(using: &random) {
                actions +=
                    Action.allCases.filter(\.isFatal).randomElement(using: &random).map { [$0] }
                    ?? []
            }
            var frame = 10
            steps = actions.map { action in
                frame += Int.random(in: 5...35, using: &random)
                return (frame, action)
            }
        }

        var title: String {
            "trial \(number), \(subject.name)\(hasRing ? ", ring" : isSegmented ? ", segments" : ""), "
                + steps.map { "\($0.action.rawValue)@\($0.frame)" }.joined(separator: " ")
        }
    }

    private static func check(_ options: Options, _ isCopy: Bool) async throws -> Finding {
        var random = SeededGenerator(seed: options.seed &+ (isCopy ? 4 : 3))
        let subjects = options.subjects(isCopy)
        let trials = (0..<options.hands).map {
            Trial($0, subjects[$0 % subjects.count], &random)
        }
        let results = try await inTurns(trials, width: 2) { trial in
            try await withTemporaryDirectory { directory in
                var hands = Hands(trial, in: directory)
                return try await hands.run()
            }
        }
        let lost = results.count { $0.isLost }
        return Finding(
            "\(results.count) recordings, \(results.map(\.actions).reduce(0, +)) actions: \(lost) lost files, "
                + "each an error; \(results.map(\.frames).reduce(0, +)) frames in all others, as reported",
            complaints: results.flatMap(\.complaints).map { "seed \(options.seed), \($0)" })
    }

    private struct Result: Sendable {
        var actions = 0
        var isLost = false
        var frames = 0
        var complaints: [String] = []
    }

    /// One recording, and the interference with its files.
    private struct Hands {
        private let trial: Trial
        private let directory: TemporaryDirectory
        private let order: VictimOrder
        private let folder: String
        private var complaints = Complaints()
        /// The paths of files that were destroyed, and whether one of them was surely being written.
        private var destroyed: Set<String> = []
        private var isLost = false
        /// Protected files, and moved ones.
        private var kept: [String] = []
        private var moved: [String] = []
        private var movedLate: [String: String] = [:]

        init(_ trial: Trial, in directory: TemporaryDirectory) {
            (self.trial, self.directory) = (trial, directory)
            folder = directory.file("recordings")
            var order = VictimOrder(
                Camera(), as: trial.subject, into: "\(folder)/out.\(trial.subject.container)")
            order.stopAfter = (trial.steps.last?.frame ?? 0) + 45
            if trial.isSegmented { (order.segment, order.keep) = (1, trial.hasRing ? 2 : 1000) }
            self.order = order
        }

        mutating func run() async throws -> Result {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false)
            let recording = try Recording(order)
            defer { recording.child.send(signal: SIGKILL) }
            try await recording.untilTold("fileStarted:started")
            for (frame, action) in trial.steps {
                try await recording.child.waitForOutput("frame \(frame)\n")
                try await perform(action)
            }
            let frames = try await judge(recording.report())
            return Result(
                actions: trial.steps.count, isLost: isLost, frames: frames,
                complaints: complaints.all.map { "\(trial.title): \($0)" })
        }

        /// The newest file that was not moved.
        private var current: String? {
            let name = "out" + (trial.isSegmented ? "-" : ".")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.filter {
                $0.hasPrefix(name) && $0.hasSuffix(".\(trial.subject.container)")
            }.max().map { "\(folder)/\($0)" }
        }

        private mutating func perform(_ action: Action) async throws {
            guard let path = current else { return }
            let file = open(path, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let wasLive = Self.isLive(file)
            switch action {
            case .repair: try await refused(path, file, ["repair", path])
            case .clip:
                let film = directory.file("film.\(trial.subject.container)")
                if !FileManager.default.fileExists(atPath: film) {
                    try await Tool.check(
                        Tool.gstBridge,
                        [
                            "record", "--capture",
                            "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=48", film,
                        ])
                }
                try await refused(path, file, ["clip", film, "--overwrite", path])
            case .move:
                moved.append("\(folder)/moved-\(moved.count).\(trial.subject.container)")
                rename(path, moved[moved.count - 1])
                // The report has the old name of a file that was complete before.
                if !Self.isLive(file) { movedLate[path] = moved[moved.count - 1] }
                kept.removeAll { $0 == path }
            case .protect:
                close(open("\(path).keep", O_CREAT | O_WRONLY, 0o600))
                // The file may be complete and removed by now.
                if access(path, F_OK) == 0 { kept.append(path) }
            case .remove: unlink(path)
            case .replace:
                try Data("theirs".utf8).write(to: URL(filePath: directory.file("theirs")))
                rename(directory.file("theirs"), path)
            case .truncate: Glibc.truncate(path, 0)
            }
            guard action.isFatal else { return }
            destroyed.insert(path)
            isLost = wasLive && Self.isLive(file)
        }

        /// Returns whether a recorder holds its lock on a file: it writes the file.
        private static func isLive(_ file: Int32) -> Bool {
            defer { flock(file, LOCK_UN) }
            return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        }

        /// Expects that a command refuses the file, unless it is complete by now.
        private mutating func refused(
            _ path: String, _ file: Int32, _ arguments: [String]
        ) async throws {
            let wasLive = Self.isLive(file)
            let result = try await Tool.run(Tool.gstBridge, arguments)
            if arguments[0] == "clip", result.status == 0 { destroyed.insert(path) }
            complaints.expect(
                !wasLive || !Self.isLive(file)
                    || result.status == 1 && result.errors.contains(path),
                "\(arguments[0]) ended with \(result.status): \(result.errors)")
        }

        /// - Returns: The number of frames in the files that are left.
        private mutating func judge(_ report: VictimReport) async throws -> Int {
            complaints.expect(report.addsUp, "the report does not add up: \(report)")
            complaints.expect(
                report.hasThrown == isLost || report.hasThrown && !destroyed.isEmpty,
                "ended by \(report.ended ?? "nothing"): \(report.failure?.message ?? "no error")")
            var frames = 0
            for file in report.files where !file.hasFailed && !destroyed.contains(file.path) {
                let found = try await Judgement(of: movedLate[file.path] ?? file.path)
                // ffprobe cannot identify the streams of a transport stream of two frames.
                complaints.expect(
                    found.frames == file.frames && (found.complaints.isEmpty || file.frames < 5),
                    "\(file.path): \(found.frames) of \(file.frames) frames, \(found.complaints)")
                frames += found.frames
            }
            complaints.expect(
                !destroyed.isEmpty || trial.hasRing || frames == report.written,
                "\(frames) of \(report.written) frames in the files")
            for path in kept + moved where !destroyed.contains(path) {
                complaints.expect(access(path, F_OK) == 0, "\(path) was removed")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            complaints.expect(!names.contains { $0.hasPrefix(".") }, "a draft is left: \(names)")
            return frames
        }
    }
}
