import BridgeEngine
import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// What one film of 1080p30 costs an engine that records it, sends it to another that records it, and shows
/// it: as units, and as pictures. For as many seconds as `COST_SECONDS` says; printed and not tested.
@Suite(.serialized, .deadline(minutes: 5)) struct UnitCostTests {
    private static let seconds = ProcessInfo.processInfo.environment["COST_SECONDS"].flatMap {
        Int($0)
    }

    private struct Way: CustomTestStringConvertible {
        var name: String
        var decoder = ""
        var isShown = false
        var testDescription: String { name }
    }
    private static let ways = [
        Way(name: "units, copied twice"),
        Way(name: "units, copied twice and shown", isShown: true),
        Way(name: "pictures, encoded twice and shown", decoder: " ! avdec_h264", isShown: true),
    ]

    @Test(.enabled(if: seconds != nil), arguments: ways)
    private func whatAFilmCosts(way: Way) async throws {
        let seconds = Self.seconds ?? 5
        try await withTemporaryDirectory { directory in
            let film = directory.file("film.mp4")
            try await Tool.check(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=30:d=\(seconds)",
                    "-c:v",
                    "libx264", "-preset", "ultrafast", "-bf", "0", "-g", "60", film,
                ])
            let network = LoopbackNetwork()
            let (sender, receiver) = (
                MediaEngine(transport: network), MediaEngine(transport: network)
            )
            let recorders = try ["near.mkv", "far.mkv"].map { try Recorder(directory.file($0)) }
            for recorder in recorders { try recorder.start() }
            try await sender.addRecorder(recorders[0])
            try await receiver.addRecorder(recorders[1], to: .remote("sender"))
            if way.isShown {
                try await sender.setLocalVideoRenderer(PipelineVideoSink("fakevideosink"))
            }
            try await receiver.joinChannel("room", userID: "receiver", role: .audience)
            try await sender.setVideoSource(
                PipelineVideoSource("filesrc location=\(film) ! qtdemux ! h264parse\(way.decoder)"))
            let events = sender.events
            let before = Self.processTime
            try await sender.joinChannel("room", userID: "sender")
            for await event in events { if case .sourceEnded = event { break } }
            let cost = Self.processTime - before
            await sender.shutDown()
            await receiver.shutDown()
            for recorder in recorders { _ = try await recorder.stop() }
            print("\(way.name): \(cost / Double(seconds) * 100) % of a core")
        }
    }

    private static var processTime: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
