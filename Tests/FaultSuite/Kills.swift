import Foundation
import TestSupport

/// kill -9, at moments that nobody chose.
enum Kills {
    static let promises = FaultSuite.containers.map { container in
        Promise(
            name: "kill-\(container)", fault: "kill -9, \(container)",
            text: text(container)
        ) { options in
            try await check(container, options)
        }
    }

    /// Frames that may be lost, of thirty a second: those that the muxer, or the order of pictures and
    /// sound, still holds. A picture is written when there is sound behind it, and AAC is 65 ms behind.
    private static func limit(_ container: String) -> Int {
        switch container {
        case "mp4": 18
        case "ts": 3
        default: 1
        }
    }

    private static func text(_ container: String) -> String {
        switch container {
        case "mp4": "0.6 s are lost at most; the rest plays"
        case "ts": "three frames are lost at most (AAC comes that late); the rest plays"
        default: "one frame is lost at most; the rest plays"
        }
    }

    private struct Loss: Sendable {
        var frames: Int
        /// Of sound, behind the last picture that was handed over.
        var sound: Double
        var complaints: [String]
    }

    /// A machine that is busy with other tests has three tries in a quick run: what it has not encoded
    /// yet is lost too.
    private static func check(_ container: String, _ options: Options) async throws -> Finding {
        for attempt in 1..<3 where options.isQuick {
            var other = options
            other.seed = options.seed &+ UInt64(attempt)
            let finding = try await oneSeries(container, other)
            if finding.verdict == .kept { return finding }
        }
        return try await oneSeries(container, options)
    }

    private static func oneSeries(_ container: String, _ options: Options) async throws -> Finding {
        var random = SeededGenerator(seed: options.seed &+ UInt64(container.hashed))
        let moments = (0..<options.kills).map { _ in
            Int.random(in: options.isQuick ? 500...1500 : 1000...4000, using: &random)
        }
        let losses = try await inTurns(moments, width: 2) { moment in
            try await kill(container, after: .milliseconds(moment))
        }
        var complaints = Complaints()
        let worst = losses.map(\.frames).max() ?? 0
        complaints.expect(
            worst <= limit(container),
            "frames lost: \(losses.map { String($0.frames) }.joined(separator: ", "))")
        let sound = losses.map(\.sound).max() ?? 0
        complaints.expect(
            sound <= Double(limit(container)) / 30 + 0.1, "\(sound.text) s of sound lost")
        let broken = losses.flatMap(\.complaints)
        complaints.expect(broken.isEmpty, "ffprobe: \(broken.first ?? "")")
        let total = losses.map(\.frames).reduce(0, +)
        return Finding(
            "\(losses.count) kills: \(worst) frame\(worst == 1 ? "" : "s") "
                + "(\((Double(worst) / 30).text) s) at most, "
                + "\((Double(total) / Double(losses.count)).text) in the mean; sound up to the same "
                + "moment within \(sound.text) s",
            complaints: complaints.all)
    }

    private static func kill(_ container: String, after moment: Duration) async throws -> Loss {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container)")
            let recording = try Recording(
                VictimOrder(path: path, capture: VictimOrder.cameraAndMicrophone()))
            defer { recording.child.send(signal: SIGKILL) }
            try await recording.child.waitForOutput("event fileStarted")
            try await Task.sleep(for: moment)
            recording.child.send(signal: SIGKILL)
            let ended = try await recording.child.end()
            let offered = Recording.offered(in: ended.output)
            let found = try await Judgement(of: path)
            var complaints = found.complaints
            if found.soundEnd == nil { complaints.append("no sound") }
            return Loss(
                frames: offered - found.frames,
                sound: max(0, Double(offered) / 30 - (found.soundEnd ?? 0)),
                complaints: complaints)
        }
    }
}

/// Some at a time, in their order.
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
    /// The same on every run, which `hashValue` is not.
    fileprivate var hashed: Int { utf8.reduce(0) { $0 &* 31 &+ Int($1) } }
}
