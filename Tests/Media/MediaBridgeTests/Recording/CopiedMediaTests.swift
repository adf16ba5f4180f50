import Foundation
import MediaBridge
import TestSupport
import Testing

/// Encoded media recorded unchanged: for any media, the file has every frame at its time, and
/// states its duration and orientation. `COPIED=1000 SEED=7` makes more cases.
@Suite("Copied media", .hangGuard) struct CopiedMediaTests {
    private static let seed =
        ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 1
    private static let count =
        ProcessInfo.processInfo.environment["COPIED"].flatMap { Int($0) } ?? 12

    @Test(arguments: [
        // The first failures found: B-frames over RTP, streams with different starts, rotated
        // films.
        CopiedMedia(codec: .h264, reordered: 2, container: "mp4", overRTP: true),
        CopiedMedia(codec: .h264, reordered: 2, container: "ts", overRTP: true),
        CopiedMedia(codec: .h265, reordered: 3, container: "mp4", overRTP: true),
        CopiedMedia(codec: .h264, reordered: 2, container: "mp4", isLive: true, overRTP: true),
        CopiedMedia(codec: .h264, container: "mkv", lateness: 15),
        CopiedMedia(codec: .vp8, container: "webm", lateness: 15),
        CopiedMedia(codec: .h264, container: "mp4", lateness: 15),
        CopiedMedia(codec: .h264, container: "mp4", orientation: "rotate-90"),
        CopiedMedia(codec: .h264, container: "mkv", orientation: "rotate-270"),
    ]) func formerlyFailingMediaIsCopied(media: CopiedMedia) async throws { try await check(media) }

    @Test func randomMediaIsCopiedCompletely() async throws {
        var random = SeededGenerator(seed: Self.seed)
        for number in 0..<Self.count {
            let media = CopiedMedia.random(&random)
            try await check(media, "seed \(Self.seed), case \(number): ")
        }
    }

    private func check(_ media: CopiedMedia, _ name: String = "") async throws {
        let title = Comment(rawValue: "\(name)\(media)")
        try await withTemporaryDirectory { directory in
            let original = directory.file("original.\(media.codec)")
            try await Tool.check(
                "gst-launch-1.0",
                ["-q"] + media.original(at: original).split(separator: " ").map(String.init))
            let path = directory.file("copy.\(media.container)")
            var plan = BridgePlan(capture: media.capture, outputs: [])
            var configuration = Recorder.Configuration()
            configuration.audio = media.lateness == nil ? nil : AudioEncoding()
            plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
            let bridge = try Bridge(plan)
            let recorder = try #require(bridge.recorders.first)
            let events = recorder.events
            let report = await bridge.run()
            #expect(report.failures.isEmpty, title)
            var isToldToBeTurned = false
            for await event in events {
                if case .orientationLost = event { isToldToBeTurned = true }
            }

            let expected = try await MediaProbe.pictures(of: original)
            #expect(expected.count == CopiedMedia.frames, title)
            let pictures = try await MediaProbe.pictures(of: path)
            #expect(pictures.count == expected.count, title)
            // Encoders depend on the times, which differ on every run of a live capture.
            if !media.isLive {
                let same = zip(pictures, expected).map { $0 == $1 }
                #expect(same.allSatisfy { $0 }, "\(title): \(same)")
            }
            #expect(recorder.report.video?.written == expected.count, title)

            let stored = try await StoredPictures(of: path)
            let decoding = stored.decoding.compactMap { $0 }
            #expect(
                media.container == "mkv" || media.container == "webm"
                    || decoding.count == expected.count, title)
            #expect(
                zip(decoding, decoding.dropFirst()).allSatisfy { $0 < $1 }, "\(title) \(decoding)")
            let shown = stored.shown.compactMap { $0 }.sorted()
            #expect(shown.count == expected.count, title)
            if !media.isLive, let first = shown.first {
                for (index, time) in shown.enumerated() {
                    let due = first + Double(index) / CopiedMedia.rate
                    #expect(abs(time - due) < 0.002, "\(title): picture \(index) at \(time)")
                }
            }
            let header = try await AnnouncedFile(path)
            if media.container != "ts", !media.isLive {
                let duration = try #require(header.duration)
                #expect(
                    abs(duration - media.duration) < 1 / CopiedMedia.rate + media.lead + 0.03,
                    "\(title): \(duration)")
                let said = recorder.report.files.map { $0.duration / .seconds(1) }.reduce(0, +)
                #expect(
                    abs(duration - said) < 1 / CopiedMedia.rate + media.lead + 0.01,
                    "\(title): \(duration), \(said)")
            }
            if ["mp4", "mov"].contains(media.container) {
                #expect(header.orientation == media.orientation, title)
                #expect(!isToldToBeTurned, title)
            } else {
                #expect(isToldToBeTurned == (media.orientation != nil), title)
            }
        }
    }
}
