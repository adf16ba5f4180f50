import Foundation
import Glibc
import TestSupport

/// kill -9 at random moments.
enum Kills {
    static let promises =
        Subject.all.map { promise(Kind($0)) }
        + Subject.kinds.flatMap { isCopy in
            [
                promise(Kind(Subject(container: "ts", isCopy: isCopy), sound: .none)),
                promise(Kind(Subject(container: "mkv", isCopy: isCopy), sound: .late)),
                promise(Kind(Subject(container: "mkv", isCopy: isCopy), sound: .twice)),
                promise(Kind(Subject(container: "mp4", isCopy: isCopy), sound: .twice)),
            ]
        }
        + ["mp4", "mov"].map { container in
            Promise(
                name: "kill-\(container)-finish",
                fault: "kill -9 while the \(container) is finished",
                text: "no frame is lost; the file plays"
            ) { try await finish($0, container) }
        }

    /// The kind of recording.
    private struct Kind: Sendable {
        enum Sound: Sendable { case usual, none, late, twice }
        var subject: Subject
        var sound: Sound

        init(_ subject: Subject, sound: Sound = .usual) {
            self.subject = subject
            self.sound = sound
        }

        /// The delay of late audio behind the video, in milliseconds.
        static let delay = 60

        var name: String {
            switch sound {
            case .usual: "kill-\(subject.name)"
            case .none: "kill-\(subject.name)-silent"
            case .late: "kill-\(subject.name)-late-sound"
            case .twice: "kill-\(subject.name)-two-tracks"
            }
        }

        var fault: String {
            switch sound {
            case .usual: "kill -9, \(subject.title)"
            case .none: "kill -9, \(subject.title), without audio"
            case .late: "kill -9, \(subject.title), audio \(Self.delay) ms late"
            case .twice: "kill -9, \(subject.title), two audio tracks"
            }
        }

        /// The permitted loss in frames, at 30 fps: the frames of the last fragment, and those without
        /// audio yet. AAC output is 65 ms late.
        var limit: Int {
            switch (subject.container, sound) {
            case ("mp4", _), ("mov", _): 18
            case ("ts", .usual), (_, .late): 3
            default: 1
            }
        }

        /// The permitted loss of audio, in seconds.
        var soundLimit: Double {
            ["mp4", "mov"].contains(subject.container) ? 0.6 : Double(limit) / 30 + 0.17
        }

        func allows(_ loss: Loss) -> Bool {
            loss.frames <= limit && (sound == .none || loss.sound <= soundLimit)
        }

        var text: String {
            let lost =
                switch (subject.container, sound) {
                case ("mp4", _), ("mov", _): "at most 0.6 s is lost"
                case ("ts", .usual):
                    "at most three frames and 0.27 s of audio are lost, as AAC is late"
                case (_, .late):
                    "at most one frame is lost, plus the delay of the audio; 0.27 s of audio"
                case (_, .none): "at most one frame is lost"
                default: "at most one frame and 0.2 s of audio are lost"
                }
            return lost + "; the rest plays"
        }

        var tracks: Int { sound == .none ? 0 : sound == .twice ? 2 : 1 }

        var camera: Camera {
            Camera(
                hasSound: sound != .none, soundTracks: tracks,
                soundDelay: sound == .late ? Self.delay : 0)
        }
    }

    private struct Loss: Sendable {
        var frames: Int
        /// Seconds of audio, counted back from the last offered frame.
        var sound: Double
        var complaints: [String]

        init(frames: Int, sound: Double, complaints: [String]) {
            self.frames = frames
            self.sound = sound
            self.complaints = complaints
        }

        /// - Parameter offered: The number of offered frames.
        init(_ found: Judgement, of offered: Int, complaints: [String]) {
            frames = max(0, offered - found.frames)
            sound = max(0, Double(offered) / 30 - found.soundLength)
            self.complaints = complaints
        }
    }

    private static func promise(_ kind: Kind) -> Promise {
        Promise(name: kind.name, fault: kind.fault, text: kind.text) { options in
            try await check(kind, options)
        }
    }

    private static func check(_ kind: Kind, _ options: Options) async throws -> Finding {
        var random = SeededGenerator(seed: options.seed &+ UInt64(kind.subject.container.hashed))
        let range = options.isQuick ? 15...45 : 15...75
        let count = kind.sound == .usual ? options.kills : min(options.kills, 16)
        let moments = (0..<count).map { _ in Int.random(in: range, using: &random) }
        let losses = try await inTurns(moments, width: 2) { moment in
            try await kill(kind, after: moment, isSettled: options.isQuick)
        }
        var complaints = Complaints()
        let worst = losses.map(\.frames).max() ?? 0
        complaints.expect(
            worst <= kind.limit,
            "frames lost: "
                + losses.map(\.frames).filter { $0 > kind.limit }.map(String.init)
                .joined(separator: ", "))
        let broken = losses.flatMap(\.complaints).filter { !isTorn($0) }
        complaints.expect(
            broken.isEmpty, "\(broken.count) errors of ffprobe: \(broken.first ?? "")")
        let sorted = losses.map(\.frames).sorted()
        var measured =
            "\(losses.count) kill\(losses.count == 1 ? "" : "s"): \(sorted[0]), "
            + "\(sorted[sorted.count / 2]), \(worst) frames (minimum, median, maximum; "
            + "\((Double(worst) / 30).text) s)"
        if kind.sound != .none {
            let sound = losses.map(\.sound).max() ?? 0
            complaints.expect(sound <= kind.soundLimit, "\(sound.text) s of audio lost")
            measured += "; at most \(sound.text) s of audio"
        }
        let tears = losses.count { $0.complaints.contains(where: isTorn) }
        if tears > 0 { measured += "; \(tears) within an encoded frame" }
        return Finding(measured, complaints: complaints.all)
    }

    /// Whether ffprobe complains only about a partial frame at the end of a Matroska or MPEG-4 file: the kill
    /// came between the write of the frame's header, or of its fragment's, and the write of its bytes. Such
    /// frames count as lost.
    static func isTorn(_ complaint: String) -> Bool {
        complaint.hasSuffix("File ended prematurely") || complaint.hasSuffix("partial file")
    }

    /// - Parameters:
    ///   - moment: The number of frames offered before the kill.
    ///   - isSettled: Whether the kill waits until the file contains all frames offered up to a moment,
    ///     except the permitted loss.
    private static func kill(
        _ kind: Kind, after moment: Int, isSettled: Bool
    ) async throws -> Loss {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(kind.subject.container)")
            var order = VictimOrder(kind.camera, as: kind.subject, into: path)
            order.lag = kind.limit
            let recording = try Recording(order)
            defer { recording.child.send(signal: SIGKILL) }
            try await recording.untilTold("fileStarted")
            try await recording.child.waitForOutput(to: "hand over \(moment) frames") {
                Recording.offered(in: $0) >= moment
            }
            let settled = recording.offered
            if isSettled { try await settle(kind, path, having: settled) }
            recording.child.send(signal: SIGKILL)
            let ended = try await recording.child.end()
            let offered = isSettled ? settled : Recording.offered(in: ended.output)
            do {
                let found = try await Judgement(of: path)
                var loss = Loss(found, of: offered, complaints: found.complaints)
                // A track without a frame has lost all of them.
                if found.soundTracks < kind.tracks { loss.sound = Double(offered) / 30 }
                return loss
            } catch {
                return Loss(frames: offered, sound: 0, complaints: ["\(error)"])
            }
        }
    }

    /// Returns when the growing file has this many frames with their audio, except the permitted loss,
    /// or after the hang limit. Polls, because the victim does not report what it has written.
    private static func settle(_ kind: Kind, _ path: String, having frames: Int) async throws {
        let deadline = ContinuousClock.now + Duration.hangLimit
        while ContinuousClock.now < deadline {
            if let found = try? await Judgement(of: path),
                kind.allows(Loss(found, of: frames, complaints: []))
            {
                return
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

// MARK: - The finish

extension Kills {
    /// Kills within the writes that give a complete file its index.
    private static func finish(_ options: Options, _ container: String) async throws -> Finding {
        let lost = try await withTemporaryDirectory { directory in
            var random = SeededGenerator(seed: options.seed)
            // Most of the bytes are in the first of the three writes.
            let moments = (0..<max(3, options.kills)).map { index in
                (
                    index, [0, 0, 0, 1, 2].randomElement(using: &random) ?? 0,
                    Int.random(in: 0...1000, using: &random)
                )
            }
            _ = try await WriteLog.command(for: directory.path, in: directory)
            return try await inTurns(moments, width: 4) { index, write, part in
                let path = directory.file("\(index).\(container)")
                var order = VictimOrder(
                    Camera(frames: 30), as: Subject(container: container), into: path)
                order.waits = true
                let prefix = try await WriteLog.command(
                    for: path, in: directory, .init(kill: (write, part)))
                let recording = try Recording(order, prefix: prefix)
                let ended = try await recording.child.end()
                guard ended.status == 128 + SIGKILL else {
                    throw Trouble(description: "the victim was not killed: \(ended.status)")
                }
                let found = try await Judgement(of: path)
                guard found.complaints.isEmpty else { return 30 }
                return Recording.offered(in: ended.output) - found.frames
            }
        }
        let sorted = lost.sorted()
        return Finding(
            "\(lost.count) kills: \(sorted[0]), \(sorted[lost.count / 2]), "
                + "\(sorted[lost.count - 1]) frames (minimum, median, maximum)",
            complaints: sorted[lost.count - 1] > 0 ? ["frames lost: \(sorted)"] : [])
    }
}

/// Runs up to `width` items at a time; the results keep the order.
func inTurns<Item: Sendable, Result: Sendable>(
    _ items: [Item], width: Int, _ body: @escaping @Sendable (Item) async throws -> Result
) async throws -> [Result] {
    var results: [Int: Result] = [:]
    try await withThrowingTaskGroup(of: (Int, Result).self) { group in
        for (index, item) in items.enumerated() {
            if index >= width, let (done, result) = try await group.next() {
                results[done] = result
            }
            group.addTask { (index, try await body(item)) }
        }
        for try await (done, result) in group { results[done] = result }
    }
    return items.indices.compactMap { results[$0] }
}

extension String {
    /// Stable across runs, unlike `hashValue`.
    fileprivate var hashed: Int { utf8.reduce(0) { $0 &* 31 &+ Int($1) } }
}
