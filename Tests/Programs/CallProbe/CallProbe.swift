import CLiveObjects
import Foundation
import MediaBridge
import TestSupport

/// Runs parts of the call tests in a separate process: on a test network, or under GStreamer's `leaks` tracer.
///
///     CallProbe room USERS SERVER PICTURES
///     CallProbe tracks SERVER
///     CallProbe joins SERVER [ROUNDS]
///     CallProbe viewers [ROUNDS]
///     CallProbe whep URL TURN
///     CallProbe whip URL TURN
///     CallProbe watch URL
///     CallProbe user NAME OTHER SERVER TURN
///
/// A probe prints its progress to standard output; `user` and `whip` run until they are killed.
@main
struct CallProbe {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        soak_count_objects()
        do {
            switch (words.first, words.count) {
            case ("room", 4):
                try await CrowdedRoom(users: words.number(1) ?? 3)
                    .run(at: words[2], pictures: words[3])
            case ("tracks", 2): try await ChangingTracks.run(at: words[1])
            case ("joins", 2...3):
                try await JoinsAndLeaves(server: words[1]).run(rounds: words.number(2) ?? 10)
            case ("viewers", 1): try await ViewersComeAndGo(forgets: false).runOnce()
            case ("viewers", 2):
                try await ViewersComeAndGo(forgets: true).run(rounds: words.number(1) ?? 4)
            case ("vanishing-viewer", 1): try await VanishingViewer.run()
            case ("whep", 3): try await RelayedPeers.play(words[1], turn: words[2])
            case ("whip", 3): try await RelayedPeers.send(to: words[1], turn: words[2])
            case ("watch", 2): try await RestartedPlayer.run(words[1])
            case ("user", 5):
                try await RelayedPeers.join(
                    as: words[1], watching: words[2], at: words[3], turn: words[4])
            default: throw ProbeFailure("no such probe: \(words)")
            }
            GStreamer.deinitialize()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }
}

extension [String] {
    fileprivate func number(_ place: Int) -> Int? { place < count ? Int(self[place]) : nil }
}

struct ProbeFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The resources of the process.
enum ProcessReport {
    /// Waits for the teardown of all pipelines. Then prints the number of descriptors and threads, and the heap
    /// and resident memory in kilobytes, on one line.
    static func say(_ name: String) async {
        GStreamer.waitForTeardown()
        let counts = ["fd", "task"].map { folder in
            let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)")
            return names?.count ?? 0
        }
        let heap = soak_heap_in_use() / 1024
        soak_trim_heap()
        let sizes = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = sizes.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        writeLine(
            "\(name) descriptors \(counts[0]) threads \(counts[1]) heap \(heap) resident \(pages * 4)"
        )
    }

    /// Waits until the last DTLS connection is freed. A handshake timer holds its connection for some seconds
    /// after the end.
    static func waitForHandshakes() async {
        GStreamer.waitForTeardown()
        let areGone = Happening()
        Thread.detachNewThread {
            soak_wait_for_handshakes()
            areGone.happen()
        }
        await areGone.wait()
    }
}

extension MediaEngine {
    /// Shuts the engine down.
    ///
    /// - Throws: ``ProbeFailure`` if its counts do not add up.
    func end() async throws {
        await shutDown()
        let wrong = statistics.imbalances(isOver: true)
        guard wrong.isEmpty else { throw ProbeFailure("\(wrong)") }
    }
}

/// Counts the rendered pictures.
final class PictureCounter: VideoSink {
    private let count: Observed<Int>
    init(_ count: Observed<Int>) { self.count = count }
    func render(_ frame: VideoFrame) { count.change { $0 += 1 } }
}

/// Writes a line to standard output at once.
func writeLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
