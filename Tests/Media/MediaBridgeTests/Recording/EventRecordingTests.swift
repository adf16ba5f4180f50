import Foundation
import TestSupport
import Testing

@testable import MediaBridge

/// Recordings around events, compared with the packets of the film.
@Suite(.hangGuard) struct EventRecordingTests {
    /// Ten seconds of 25 pictures: black, a moving ball from 4 s to 6 s, black. A key frame every five pictures.
    private static let film =
        "concat name=joined ! x264enc key-int-max=5 bframes=0 tune=zerolatency sliced-threads=false ! "
        + "h264parse ! matroskamux ! filesink location=FILM "
        + [("black", 100), ("ball", 50), ("black", 100)].map {
            "videotestsrc pattern=\($0.0) num-buffers=\($0.1) ! "
                + "video/x-raw,width=160,height=120,framerate=25/1 ! joined."
        }.joined(separator: " ")

    private func withFilm(_ body: (TemporaryDirectory, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let film = directory.file("film.mkv")
            try await Tool.check(
                "gst-launch-1.0",
                ["-q"]
                    + Self.film.replacing("FILM", with: film).split(separator: " ").map(String.init)
            )
            try await body(directory, film)
        }
    }

    /// Finds its state from one time to another, looking at every picture.
    private struct Between: VideoDetector {
        var times: [Range<Double>]
        var analysis: PictureAnalysis {
            var analysis = PictureAnalysis()
            analysis.rate = 0
            return analysis
        }
        func inspect(_ picture: VideoFrame) throws -> Finding {
            let time = picture.runningTime?.seconds ?? -1
            return Finding(times.contains { $0.contains(time) }, score: 1)
        }
    }

    private func record(
        _ film: String, to path: String, _ detectors: [StreamDetector], before: Double,
        after: Double,
        _ change: (inout BridgePlan) -> Void = { _ in }
    ) async throws -> (report: BridgeReport, files: [RecordedFile]) {
        var plan = BridgePlan(
            capture: "filesrc location=\(film) ! matroskademux ! h264parse")
        plan.detectors = detectors
        let events = RecordedEvents(before: .seconds(before), after: .seconds(after))
        plan.recordings = [BridgePlan.Recording(path: path, events: events)]
        change(&plan)
        let bridge = try Bridge(plan)
        let report = await bridge.run()
        #expect(report.failures.isEmpty)
        expectBalanced(report)
        let recorded = bridge.recorders[0].report
        expectBalanced(recorded)
        return (report, recorded.files)
    }

    private func between(_ times: Range<Double>...) -> [StreamDetector] {
        [StreamDetector("between", pictures: { [times] in Between(times: times) })]
    }

    /// Expects that each file has the film's packets of these pictures.
    private func expect(
        _ files: [RecordedFile], have pictures: [Range<Int>], of film: String
    ) async throws {
        let packets = try await MediaProbe.packets(of: film)
        try #require(files.count == pictures.count)
        for (file, range) in zip(files, pictures) {
            #expect(file.failure == nil)
            #expect(try await MediaProbe.packets(of: file.path) == Array(packets[range]))
        }
    }

    @Test(arguments: ["mkv", "mp4"]) func motionIsRecordedWithTheTimeAroundIt(ending: String)
        async throws
    {
        try await withFilm { directory, film in
            let (report, files) = try await record(
                film, to: directory.file("out.\(ending)"),
                [try StreamDetector(parsing: "motion=1")],
                before: 1, after: 1)
            // The ball appears at 4 s; at 6 s it is gone, and from 6.2 s on nothing changes.
            #expect(report.events.map(\.began) == [MediaTime(seconds: 4)])
            #expect(report.events.map(\.ended) == [MediaTime(seconds: 6.2)])
            try await expect(files, have: [75..<180], of: film)
        }
    }

    @Test func eventOfOneFrameHasAFile() async throws {
        try await withFilm { directory, film in
            let (_, files) = try await record(
                film, to: directory.file("out.mkv"), between(4.04..<4.06), before: 0.5, after: 0.5)
            // From the key frame at 3.4 s before 3.54 s, to 4.08 s + 0.5 s.
            try await expect(files, have: [85..<115], of: film)
        }
    }

    @Test func eventsWhoseTimesOverlapShareAFile() async throws {
        try await withFilm { directory, film in
            let (_, files) = try await record(
                film, to: directory.file("out.mkv"), between(2..<2.4, 4..<4.4), before: 1, after: 1)
            try await expect(files, have: [25..<135], of: film)
        }
    }

    @Test func separateEventsHaveFilesWithoutCommonPackets() async throws {
        try await withFilm { directory, film in
            let (_, files) = try await record(
                film, to: directory.file("out.mkv"), between(2..<2.4, 4.6..<5), before: 1, after: 1)
            // The second one begins with the key frame at 3.6 s.
            try await expect(files, have: [25..<85, 90..<150], of: film)
            #expect(files.map(\.path) == ["out.mkv", "out-00001.mkv"].map { directory.file($0) })
        }
    }

    @Test func eventPresentAtTheEndIsRecordedToTheEnd() async throws {
        try await withFilm { directory, film in
            let (report, files) = try await record(
                film, to: directory.file("out.mkv"), between(9..<100), before: 0, after: 0)
            #expect(report.events.map(\.ended) == [MediaTime(seconds: 9.96)])
            try await expect(files, have: [225..<250], of: film)
        }
    }

    @Test func noEventMeansNoFileAndNoFailure() async throws {
        try await withFilm { directory, film in
            let (report, files) = try await record(
                film, to: directory.file("out.mkv"), between(), before: 1, after: 1)
            #expect(files.isEmpty && report.events.isEmpty)
            #expect(report.outputs["recording"]?.dropped[.early] == 250)
            #expect(directory.contents == ["film.mkv"])
        }
    }

    @Test func aLimitDuringAnEventEndsItsFile() async throws {
        try await withFilm { directory, film in
            let (_, files) = try await record(
                film, to: directory.file("out.mkv"), between(4..<8), before: 1, after: 1
            ) { $0.frameLimit = 130 }
            try await expect(files, have: [75..<130], of: film)
        }
    }

    @Test func failedDetectorDoesNotStopTheRecording() async throws {
        struct Broken: VideoDetector {
            func inspect(_ picture: VideoFrame) throws -> Finding {
                if let time = picture.runningTime, time > MediaTime(seconds: 3) {
                    throw FrameError(.badFormat, "broken")
                }
                return Finding(false, score: 0)
            }
        }
        try await withFilm { directory, film in
            var plan = BridgePlan(capture: "filesrc location=\(film) ! matroskademux ! h264parse")
            plan.detectors = [StreamDetector("broken", pictures: { Broken() })]
            let events = RecordedEvents(before: .seconds(1), after: .zero)
            plan.recordings = [
                BridgePlan.Recording(path: directory.file("out.mkv"), events: events)
            ]
            let bridge = try Bridge(plan)
            let report = await bridge.run()
            #expect(report.failures.map(\.code) == [.elementFailed])
            expectBalanced(report)
            // One second before the last picture that it has seen, at 3 s.
            try await expect(bridge.recorders[0].report.files, have: [50..<250], of: film)
        }
    }

    @Test func soundEventRecordsVideoAndAudio() async throws {
        try await withTemporaryDirectory { directory in
            let beep =
                "concat name=sound "
                + [(0, 100), (0.5, 50), (0, 100)].map {
                    "audiotestsrc volume=\($0.0) num-buffers=\($0.1) samplesperbuffer=1920 ! "
                        + "audio/x-raw,format=S16LE,rate=48000,channels=1 ! sound."
                }.joined(separator: " ")
            var plan = BridgePlan(
                capture:
                    "videotestsrc num-buffers=250 ! video/x-raw,width=64,height=48,framerate=25/1 ! "
                    + "x264enc key-int-max=5 bframes=0 tune=zerolatency ! h264parse ! appsink name=video "
                    + beep + " sound. ! appsink name=audio")
            plan.detectors = [StreamDetector("sound", sound: { SoundDetector.sound })]
            plan.recordings = [
                BridgePlan.Recording(
                    path: directory.file("out.mkv"), audio: AudioEncoding(.flac),
                    events: RecordedEvents(before: .seconds(1), after: .seconds(1)))
            ]
            let report = await (try Bridge(plan)).run()
            #expect(report.failures.isEmpty)
            expectBalanced(report)
            #expect(report.events.map(\.began) == [MediaTime(seconds: 4)])
            #expect(report.events.map(\.ended) == [MediaTime(seconds: 6)])
            let times = try await MediaProbe.videoTimes(of: directory.file("out.mkv"))
            #expect(times.count == 100)
            let samples = try await MediaProbe.audioSamples(of: directory.file("out.mkv"))
            // Blocks of FLAC begin and end beside the pictures.
            #expect(abs(samples - 4 * 48_000) <= 2 * 4_608)
        }
    }

    @Test func aRecordingDependsOnlyOnDetectorsOfItsPlan() throws {
        var plan = BridgePlan(capture: "videotestsrc")
        plan.recordings = [
            BridgePlan.Recording(path: "/tmp/none.mkv", events: RecordedEvents(of: ["motion"]))
        ]
        #expect { try Bridge(plan) } throws: { ($0 as? PipelineError)?.code == .badValue }
    }
}
