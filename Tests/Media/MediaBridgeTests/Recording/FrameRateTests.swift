import Foundation
import MediaBridge
import TestSupport
import Testing

/// Video of any frame rate: each frame is in the file, at its time. `COPIED=300 SEED=7` makes more cases.
@Suite("Frame rates", .hangGuard) struct FrameRateTests {
    private struct Video: CustomStringConvertible {
        var rate: (frames: Int, seconds: Int)
        var isCopied: Bool
        var container: String
        static let frames = 9

        static func random(_ random: inout SeededGenerator) -> Video {
            let rates = [
                (1, 3600), (1, 600), (1, 60), (1, 7), (2, 3), (7, 3), (24000, 1001), (30000, 1001),
                (60000, 1001), (100, 1), (240, 1), (999, 1),
                (
                    Int.random(in: 1...90_000, using: &random),
                    Int.random(in: 100...9999, using: &random)
                ),
                (1, Int.random(in: 1...9999, using: &random)),
            ]
            return Video(
                rate: rates.randomElement(using: &random)!, isCopied: .random(using: &random),
                container: ["mkv", "mp4", "webm", "ts"].randomElement(using: &random)!)
        }

        var description: String {
            "\(rate.frames)/\(rate.seconds) fps, \(container), \(isCopied ? "copied" : "encoded")"
        }

        var capture: String {
            let encoder =
                container == "webm"
                ? "vp8enc deadline=1" : "x264enc tune=zerolatency threads=1 ! h264parse"
            return "videotestsrc num-buffers=\(Self.frames) ! video/x-raw,width=64,height=48,"
                + "framerate=\(rate.frames)/\(rate.seconds)" + (isCopied ? " ! \(encoder)" : "")
        }

        func time(of frame: Int) -> Double {
            Double(frame) * Double(rate.seconds) / Double(rate.frames)
        }
    }

    @Test func everyFrameRateIsKept() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["SEED"].flatMap { UInt64($0) } ?? 1
        var random = SeededGenerator(seed: seed)
        for number in 0..<(environment["COPIED"].flatMap { Int($0) } ?? 12) {
            let video = Video.random(&random)
            let title: Comment = "seed \(seed), case \(number): \(video)"
            try await withTemporaryDirectory { directory in
                let path = directory.file("out.\(video.container)")
                var plan = BridgePlan(capture: video.capture, outputs: [])
                plan.recordings = [BridgePlan.Recording(path: path)]
                let bridge = try Bridge(plan)
                let report = await bridge.run()
                #expect(report.failures.isEmpty, "\(title): \(report)")
                let stored = try await StoredPictures(of: path).shown.compactMap { $0 }.sorted()
                #expect(stored.count == Video.frames, title)
                // Matroska counts milliseconds, a transport stream 90 kHz.
                for (frame, time) in stored.enumerated() {
                    let due = (stored.first ?? 0) + video.time(of: frame)
                    #expect(abs(time - due) < 0.0011, "\(title): frame \(frame) at \(time)")
                }
                let file = try #require(bridge.recorders.first?.report.files.first)
                #expect(file.frames == Video.frames, title)
                let length = MediaTime(file.duration).seconds
                #expect(
                    abs(length - video.time(of: Video.frames)) < 0.0021, "\(title): \(length) s")
            }
        }
    }
}
