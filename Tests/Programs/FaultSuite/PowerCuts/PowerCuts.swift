import Foundation
import Glibc
import Synchronization
import TestSupport

/// Power failures, and disks whose flushes fail or take long.
///
/// No power is cut: the writes and flushes of a recording are recorded, and the states that a failure may
/// leave are made from them.
enum PowerCuts {
    static let promises =
        Subject.all.map { subject in
            Promise(
                name: "power-\(subject.name)", fault: "Power failure, durable, \(subject.title)",
                text: (subject.container == "ts"
                    ? "every flushed frame but the last plays" : "every flushed frame plays")
                    + "; at most 1 s of video is lost; a finished file is complete"
            ) { try await durable(subject, $0) }
        } + [
            Promise(
                name: "power-finish", fault: "Power failure while an mp4 is finished",
                text: "every frame that was on the disk before plays"
            ) { try await finish($0) },
            Promise(
                name: "power-directories", fault: "Power failure, durable, new directories",
                text: "each directory is flushed before the recording is complete"
            ) { try await directories($0) },
            Promise(
                name: "flush-fails", fault: "A flush fails, durable, each container",
                text: "a typed error; the file plays; the preview goes on"
            ) { try await failing($0) },
            Promise(
                name: "flush-slow", fault: "Each flush takes 1.5 s, durable",
                text: "no frame is lost; the preview goes on"
            ) { try await slow($0) },
        ]

    // MARK: States

    /// A recording whose writes and flushes are known.
    private struct Recorded: Sendable {
        let path: String
        let states: DiskStates
        /// The number of frames offered after each step.
        let offered: [Int]
        /// The number of steps after which all frames were offered, and the file was reported as complete.
        let last: Int
        let complete: Int
        /// The number of flushes of the file.
        let flushes: Int
        /// Whether a fragment of an mp4 is written as such.
        let showsFragments: Bool

        /// - Parameter settles: Whether everything before the index of an mp4 counts as flushed.
        init(
            _ order: VictimOrder, _ directory: TemporaryDirectory, settles: Bool = false
        ) async throws {
            path = order.path
            let prefix = try await WriteLog.command(for: order.path, in: directory)
            let report = try await Recording.run(order, prefix: prefix)
            guard !report.hasThrown else {
                throw Trouble(description: report.failure?.message ?? "the recording failed")
            }
            let log = try WriteLog(of: order.path)
            var offered = [0]
            var end: Int?
            for (index, step) in log.steps.enumerated() {
                var frames = offered[index]
                if case .reported(let line) = step {
                    if line.hasPrefix("frame ") { frames = Recording.offered(in: line) }
                    if line.hasPrefix("event fileFinished") { end = end ?? index + 1 }
                }
                offered.append(frames)
            }
            guard let end else { throw Trouble(description: "no file was finished") }
            (self.offered, complete) = (offered, end)
            last = offered.firstIndex(of: offered.last ?? 0) ?? 0
            states = DiskStates(log, settled: settles ? log.stepsBeforeIndex : 0)
            flushes = log.flushes
            showsFragments = log.hasBox("moof")
        }
    }

    /// The frames that survive in one disk state.
    private struct Loss: Sendable {
        var frames: Int
        /// The number of frames that play, and of those that must.
        var playing: Int
        var flushed: Int
        /// The last flushed frame of a transport stream may be incomplete.
        var isBroken: Bool { playing < flushed - slack }
        var slack = 0
    }

    /// Judges random states of a recording, a third of them after its last frame.
    private static func losses(
        of recorded: Recorded, _ count: Int, from first: Int = 0, seed: UInt64,
        _ directory: TemporaryDirectory
    ) async throws -> [Loss] {
        let known = FlushedFrames()
        let all = recorded.offered.count - 1
        return try await inTurns(Array(0..<count), width: 3) { index in
            var random = SeededGenerator(seed: seed &+ UInt64(index))
            let start = index % 3 == 0 ? max(first, recorded.last) : first
            let step = Int.random(in: start...all, using: &random)
            let path = directory.file("state-\(index).\((recorded.path as NSString).pathExtension)")
            defer { unlink(path) }
            let base = recorded.states.flushed(after: step)
            // Decoding takes three times as long.
            let decoded = index % 5 == 0
            let flushed = try await known.count(at: decoded ? base : -base) {
                try recorded.states.write(upTo: base, to: path)
                return try await frames(of: path, decoded: decoded)
            }
            try recorded.states.writeRandom(after: step, to: path, using: &random)
            let playing = try await frames(of: path, decoded: decoded)
            return Loss(
                frames: max(0, recorded.offered[step] - playing), playing: playing,
                flushed: step < recorded.complete ? flushed : recorded.offered[all],
                slack: recorded.path.hasSuffix("ts") && step < recorded.complete ? 1 : 0)
        }
    }

    /// The number of frames that play of what is flushed after some steps.
    private actor FlushedFrames {
        private var known: [Int: Int] = [:]

        /// - Parameter step: Negative for frames that are not decoded.
        func count(at step: Int, _ judge: () async throws -> Int) async throws -> Int {
            if let count = known[step] { return count }
            let count = try await judge()
            known[step] = count
            return count
        }
    }

    /// The number of frames in a file: of those that ffmpeg decodes, or of those that it only reads.
    private static func frames(of path: String, decoded: Bool) async throws -> Int {
        let (option, field) =
            decoded
            ? ("-count_frames", "nb_read_frames") : ("-count_packets", "nb_read_packets")
        let result = try await Tool.run(
            "ffprobe",
            [
                "-v", "error", "-threads", "1", "-select_streams", "v", option, "-show_entries",
                "stream=\(field)", "-of", "csv=p=0", path,
            ])
        // A transport stream lists its streams twice.
        return result.output.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }

    /// The length of a recording.
    private static func frames(_ options: Options) -> Int { options.isQuick ? 60 : 150 }

    private static func order(
        _ subject: Subject, _ options: Options, _ directory: TemporaryDirectory
    ) -> VictimOrder {
        var camera = Camera(frames: frames(options), pattern: "snow")
        // Enough for several blocks between two flushes.
        camera.bitrate = 1_500_000
        return VictimOrder(camera, as: subject, into: directory.file("out.\(subject.container)"))
    }

    private static func text(_ losses: [Loss]) -> String {
        let frames = losses.map(\.frames).sorted()
        let unplayable = losses.count { $0.playing == 0 && $0.frames > 30 }
        return "\(losses.count) states: \(unplayable) unplayable; frames lost: \(frames[0]), "
            + "\(frames[frames.count / 2]), \(frames[frames.count - 1])"
    }

    private static func complaints(_ losses: [Loss]) -> Complaints {
        var complaints = Complaints()
        for (index, loss) in losses.enumerated() where loss.isBroken {
            complaints.expect(
                false, "state \(index): \(loss.playing) of \(loss.flushed) flushed frames play")
        }
        return complaints
    }

    private static func durable(_ subject: Subject, _ options: Options) async throws -> Finding {
        try await withTemporaryDirectory { directory in
            var order = order(subject, options, directory)
            order.isDurable = true
            let recorded = try await Recorded(order, directory)
            let losses = try await losses(
                of: recorded, options.states, seed: options.seed, directory)
            var complaints = complaints(losses)
            let most = losses.map(\.frames).max() ?? 0
            complaints.expect(options.isQuick || most <= 30, "\(most) frames lost")
            complaints.expect(
                recorded.states.flushed(after: recorded.last) > 0, "no flush before the last frame")
            // Four times a second, for five seconds.
            complaints.expect(
                options.isQuick || recorded.flushes >= 15, "\(recorded.flushes) flushes")
            complaints.expect(
                !recorded.showsFragments, "a fragment is visible before it is on the disk")
            var measured = text(losses) + " (minimum, median, maximum)"
            if !options.isQuick {
                order.isDurable = false
                order.path = directory.file("plain.\(subject.container)")
                let plain = try await Self.losses(
                    of: try await Recorded(order, directory), options.states / 5,
                    seed: options.seed, directory)
                measured += "; without --durable, before the kernel writes: \(text(plain))"
            }
            return Finding(measured, complaints: complaints.all)
        }
    }

    private static func finish(_ options: Options) async throws -> Finding {
        try await withTemporaryDirectory { directory in
            let subject = Subject(container: "mp4")
            let recorded = try await Recorded(
                order(subject, options, directory), directory, settles: true)
            let losses = try await losses(
                of: recorded, options.states, from: recorded.states.settled, seed: options.seed,
                directory)
            return Finding(text(losses), complaints: complaints(losses).all)
        }
    }

    private static func directories(_ options: Options) async throws -> Finding {
        try await withTemporaryDirectory { directory in
            var order = order(Subject(container: "mkv"), options, directory)
            order.path = directory.file("new/%Y/out.mkv")
            order.isDurable = true
            // The files of the recording have other names: only directories are recorded.
            let place = directory.file("none")
            let prefix = try await WriteLog.command(for: place, in: directory)
            let report = try await Recording.run(order, prefix: prefix)
            var complaints = Complaints()
            var url = URL(filePath: report.files.first?.path ?? "").resolvingSymlinksInPath()
            var flushed: Set<String> = []
            steps: for step in try WriteLog(of: place).steps {
                switch step {
                case .flushedDirectory(let path): flushed.insert(path)
                case .reported(let line) where line.hasPrefix("event fileFinished"): break steps
                default: break
                }
            }
            // The year, "new", and the directory that has it.
            for _ in 0..<3 {
                url.deleteLastPathComponent()
                complaints.expect(flushed.contains(url.path), "\(url.path) is not flushed")
            }
            return Finding("3 of 3 directories", complaints: complaints.all)
        }
    }

    // MARK: Faults of the disk

    private static func failing(_ options: Options) async throws -> Finding {
        let findings = try await inTurns(options.containers, width: 2) { container in
            try await withTemporaryDirectory { directory in
                var order = order(Subject(container: container), options, directory)
                order.isDurable = true
                order.hasPreview = true
                // More than a fragment of an mp4, and less than the recording.
                let prefix = try await WriteLog.command(
                    for: order.path, in: directory, .init(failingSize: 150_000))
                let report = try await Recording.run(order, prefix: prefix)
                let found = try await Judgement(of: order.path)
                var complaints = Complaints()
                complaints.expect(
                    report.failure?.code == "resourceFailed" && report.hasThrown
                        && report.failure?.message.contains("Input/output error") == true,
                    "the error is \(report.failure?.message ?? "missing")")
                complaints.expect(
                    found.frames > 0 && found.complaints.isEmpty,
                    "\(found.frames) frames play; ffprobe: \(found.complaints.first ?? "")")
                complaints.expect(report.addsUp, "the report does not add up: \(report)")
                complaints.expectPreview(options, of: frames(options), in: report)
                return complaints.all.map { "\(container): \($0)" }
            }
        }
        return Finding("resourceFailed for each", complaints: findings.flatMap { $0 })
    }

    private static func slow(_ options: Options) async throws -> Finding {
        try await withTemporaryDirectory { directory in
            var order = order(Subject(container: "mkv"), options, directory)
            order.isDurable = true
            order.hasPreview = true
            let prefix = try await WriteLog.command(
                for: order.path, in: directory, .init(flushTime: 1500))
            let report = try await Recording.run(order, prefix: prefix)
            let found = try await Judgement(of: order.path)
            let flushes = try WriteLog(of: order.path).flushes
            var complaints = Complaints()
            let frames = frames(options)
            complaints.expectPreview(options, of: frames, in: report)
            complaints.expect(!report.hasThrown, "\(report.failure?.message ?? "it threw")")
            complaints.expect(
                found.frames == report.written && report.addsUp
                    && (options.isQuick || found.frames == frames),
                "\(found.frames) frames of \(frames) in the file: \(report)")
            complaints.expect(flushes > 0, "no flush")
            return Finding(
                "\(found.frames) of \(frames) frames, \(flushes) flushes",
                complaints: complaints.all)
        }
    }
}

extension WriteLog {
    /// The number of flushes of the file.
    fileprivate var flushes: Int {
        steps.count { if case .flushed = $0 { true } else { false } }
    }

    /// The number of steps before the index of an mp4 is appended.
    fileprivate var stepsBeforeIndex: Int { steps.lastIndex { begins($0, box: "free") } ?? 0 }

    fileprivate func hasBox(_ type: String) -> Bool { steps.contains { begins($0, box: type) } }

    /// Whether a step writes a box, or its beginning.
    private func begins(_ step: Step, box type: String) -> Bool {
        guard case .write(_, let range) = step, range.count > 16 else { return false }
        return bytes[range.lowerBound + 4..<range.lowerBound + 8] == Data(type.utf8)
    }
}
