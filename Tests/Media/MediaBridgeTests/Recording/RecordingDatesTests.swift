import Foundation
import GStreamerKit
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// Recordings that are named, divided and dated by the wall clock.
@Suite("Recordings and the wall clock", .hangGuard) struct RecordingDatesTests {
    private static let second: Int64 = 1_000_000_000

    /// Nanoseconds since 1970 of a time in UTC, for example `2026-10-25T00:59:50Z`.
    private static func time(_ text: String) throws -> Int64 {
        let date = try Date(text, strategy: .iso8601)
        return Int64(date.timeIntervalSince1970) * second
    }

    private static func recorder(
        _ path: String, _ time: String, in zone: String = "UTC",
        _ change: (inout Recorder.Configuration) -> Void = { _ in }
    ) throws -> Recorder {
        let now = try Self.time(time)
        var configuration = Recorder.Configuration()
        configuration.isDated = true
        change(&configuration)
        return try Recorder(
            path, configuration: configuration, clock: .system,
            wallClock: WallClock(zone: zone) { now })
    }

    private static func record(_ count: Int, into recorder: Recorder) async throws
        -> RecorderReport
    {
        try recorder.start()
        for index in 0..<count { try await recorder.write(RecordedFrames().picture(index)) }
        return try await recorder.stop()
    }

    // MARK: Names

    @Test func filesAndDirectoriesAreNamedByTheFirstFrame() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Self.recorder(
                directory.file("new/cam-%Y%m%d/%H%M%S.mkv"), "2026-12-31T23:59:58Z"
            ) { $0.segments = RecordingSegments(length: .seconds(1)) }
            let report = try await Self.record(75, into: recorder)
            #expect(
                report.files.map(\.path)
                    == [
                        "new/cam-20261231/235958.mkv", "new/cam-20261231/235959.mkv",
                        "new/cam-20270101/000000.mkv",
                    ].map(directory.file))
            #expect(report.files.map(\.frames) == [25, 25, 25])
        }
    }

    @Test func repeatedHourOfSummerTimeOverwritesNoFile() async throws {
        try await withTemporaryDirectory { directory in
            // 2:00:00 in summer time, and an hour later again in winter time.
            for hour in ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"] {
                let recorder = try Self.recorder(
                    directory.file("%H%M%S.mkv"), hour, in: "Europe/Berlin"
                ) { $0.segments = RecordingSegments(length: .seconds(1)) }
                _ = try await Self.record(50, into: recorder)
            }
            #expect(
                directory.contents
                    == ["020000-00001.mkv", "020000.mkv", "020001-00001.mkv", "020001.mkv"])
            for file in directory.contents {
                #expect(try await MediaProbe.packets(of: directory.file(file)).count == 25)
            }
        }
    }

    @Test(arguments: 0..<20)
    func clockJumpsNeverReuseAFileName(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        try await withTemporaryDirectory { directory in
            let zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]
            let zone = try #require(zones.randomElement(using: &generator))
            let pattern = try #require(
                ["%Y/%m/%d-%H%M%S.ts", "%j_%H%M.ts", "a%%b-%s.ts", "%y%m%dT%H%M%S%z.ts"]
                    .randomElement(using: &generator))
            // Around the end of summer time in Europe.
            let now = Mutex(try Self.time("2026-10-25T00:30:00Z"))
            let names = RecordingNames(
                directory.file(pattern), isNumbered: true,
                dates: WallClock(zone: zone) { now.withLock { $0 } })
            var paths: [String] = []
            for _ in 0..<60 {
                let step = [1, 60, 600, -1, -3600, 3600, 0].randomElement(using: &generator) ?? 0
                now.withLock { $0 += Int64(step) * Self.second }
                let path = names.nextPath()
                try names.createDirectory(of: path)
                let file = try ClaimedFile(path, mustBeNew: true)
                #expect(file != nil, "seed \(seed): \(path) in \(zone)")
                paths.append(path)
            }
            #expect(Set(paths).count == 60, "seed \(seed): \(pattern) in \(zone)")
            #expect(paths.allSatisfy { $0.hasPrefix(directory.path) }, "seed \(seed)")
            #expect(
                Set(names.existing().map(\.path)) == Set(paths),
                "seed \(seed): \(pattern) in \(zone)"
            )
        }
    }

    @Test func onlyFilesThatMatchThePatternBelongToTheRecording() async throws {
        try await withTemporaryDirectory { directory in
            let names = RecordingNames(
                directory.file("%Y/cam-%H%M.mkv"), isNumbered: true, dates: WallClock())
            for path in [
                "2026/cam-1200.mkv", "2026/cam-1200-00001.mkv", "2026/cam-120.mkv",
                "2026/cam-1200.mp4", "2026/cam-1200-1.mkv", "2026/cam-12000.mkv",
                "2026/cam-1200.mkv.keep", "2026/xcam-1200.mkv", "26/cam-1200.mkv", "cam-1200.mkv",
            ] {
                try names.createDirectory(of: directory.file(path))
                try Data().write(to: URL(filePath: directory.file(path)))
            }
            #expect(
                Set(names.existing().map(\.path))
                    == Set(["2026/cam-1200.mkv", "2026/cam-1200-00001.mkv"].map(directory.file)))
        }
    }

    @Test(
        arguments: [
            ("%05d.mkv", "\"%0\" is not part of a date"), ("%H%", "\"% \" is not part of a date"),
            ("%Y/../%H%M%S.mkv", "\"..\" after a date leaves the directory"),
            ("%Y%m%d.mkv", "files of 10.0 seconds begin within the same day"),
            ("%H%M.mkv", "files of 10.0 seconds begin within the same minute"),
            (String(repeating: "x", count: 248) + "%H%M%S.mkv", "a name in it is too long"),
        ])
    func invalidNamePatternIsRefusedWithTheReason(
        pattern: String, reason: String
    ) throws {
        let names = RecordingNames(pattern, isNumbered: true, dates: WallClock(zone: "UTC"))
        let error = #expect(throws: PipelineError.self) {
            try names.check(length: .seconds(10), at: WallClock().now())
        }
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.code == .badValue)
    }

    @Test func directoryThatCannotBeCreatedFailsImmediately() async throws {
        try await withTemporaryDirectory { directory in
            try Data().write(to: URL(filePath: directory.file("taken")))
            let error = #expect(throws: PipelineError.self) {
                try Self.recorder(directory.file("taken/%H/%M%S.mkv"), "2026-01-01T00:00:00Z")
            }
            #expect(error?.message.contains("\"\(directory.file("taken"))\"") == true)
        }
    }

    // MARK: Alignment

    @Test(arguments: [RecordingContainer.mkv, .mp4, .ts])
    func alignedFilesEndAtWholeMultiplesByTheClock(container: RecordingContainer) async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Self.recorder(
                directory.file("%H%M%S.\(container.rawValue)"), "2026-06-01T12:00:07Z",
                in: "Asia/Kolkata"
            ) {
                $0.segments = RecordingSegments(length: .seconds(5))
                $0.segments?.isAligned = true
            }
            let report = try await Self.record(300, into: recorder)
            let names = report.files.compactMap { $0.path.split(separator: "/").last }
            #expect(
                names.map { $0.prefix(6) } == ["173007", "173010", "173015"], "\(names)")
            #expect(report.files.map(\.frames) == [75, 125, 100])
        }
    }

    @Test(arguments: 0..<50)
    func everyAlignedFileIsNonEmptyAndEndsAtAMultiple(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let zone = ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"]
            .randomElement(using: &generator)
        let length = [1, 7, 10, 60, 600, 3600, 86_400].randomElement(using: &generator) ?? 1
        let period = Int64(length) * Self.second
        let early = MediaTime(nanoseconds: 20_000_000)
        var limits = RecordingSegments(length: .seconds(length))
        limits.isAligned = true
        // Within a day of the end of summer time in Europe; one clock in ten is before 1970.
        let days = Int64.random(in: 0..<172_800, using: &generator)
        var wall = try Self.time("2026-10-24T00:00:00Z") + days * Self.second
        if seed % 10 == 0 { wall -= 3_000_000_000 * Self.second }
        for _ in 0..<200 {
            wall += Int64.random(in: -30_000_000_000...30_000_000_000, using: &generator)
            let now = wall
            let clock = WallClock(zone: zone) { now }
            let timeline = RecordingTimeline(leader: .video, wallClock: clock)
            guard case .at(let begin) = timeline.place(.zero, nil, of: .video) else {
                Issue.record("not placed")
                return
            }
            let end = try #require(limits.end(ofFileAt: begin, early: early, timeline))
            let lasts = (end - begin).nanoseconds
            #expect(lasts > early.nanoseconds, "seed \(seed): a file without a length")
            #expect(lasts <= period + early.nanoseconds, "seed \(seed)")
            let local = wall + clock.secondsAheadOfUTC(at: wall) * Self.second
            #expect((local + lasts) % period == 0, "seed \(seed)")
        }
    }

    // MARK: Dates of files

    @Test(arguments: [RecordingContainer.mkv, .webm, .mp4])
    func captureDateOfAFileSurvivesARepair(
        container: RecordingContainer
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.\(container.rawValue)")
            let recorder = try Self.recorder(path, "2001-02-03T04:05:06Z") {
                $0.segments = RecordingSegments(length: .seconds(1))
            }
            let report = try await Self.record(50, into: recorder)
            let start = try Date("2001-02-03T04:05:06Z", strategy: .iso8601)
            #expect(report.files.map(\.began) == [start, start + 1])
            let repaired = directory.file("repaired.\(container.rawValue)")
            _ = try await Recordings.repair(report.files[1].path, to: repaired)
            for file in [report.files[1].path, repaired] {
                let stated = try await Tool.check(
                    "ffprobe",
                    [
                        "-v", "error", "-show_entries", "format_tags=creation_time", "-of",
                        "csv=p=0", file,
                    ])
                #expect(stated.hasPrefix("2001-02-03T04:05:07.000000Z"), "\(file): \(stated)")
            }
        }
    }

    @Test func liveFrameIsDatedByItsCaptureNotItsArrival() throws {
        let now = Mutex(try Self.time("2026-01-01T00:00:00Z"))
        let timeline = RecordingTimeline(
            leader: .video, wallClock: WallClock(zone: "UTC") { now.withLock { $0 } })
        // A clock origin two seconds ago: the frame waited for so long.
        let before = MediaTime(SharedClock.now) - MediaTime(seconds: 2)
        let live = LiveTiming(clockOrigin: before, latency: .zero)
        guard case .at(let place) = timeline.place(.zero, live, of: .video) else {
            Issue.record("not placed")
            return
        }
        let wall = timeline.wallTime(of: place)
        // The test may have waited; the frame cannot be younger.
        #expect(wall <= now.withLock { $0 } - 2 * Self.second)
        // The user sets the clock an hour back: later files have the new time.
        now.withLock { $0 -= 3600 * Self.second }
        #expect(timeline.wallTime(of: place) <= wall - 3600 * Self.second)
    }

    @Test func wallClockTimeIncludesPauses() throws {
        let start = try Self.time("2026-01-01T00:00:00Z")
        let timeline = RecordingTimeline(
            leader: .video, wallClock: WallClock(zone: "UTC") { start })
        func place(_ seconds: Double) -> RecordingTimeline.Placement {
            timeline.place(MediaTime(seconds: seconds), nil, of: .video)
        }
        _ = place(0)
        timeline.pause()
        _ = place(1)
        timeline.resume()
        guard case .at(let placed) = place(4) else {
            Issue.record("not placed")
            return
        }
        #expect(timeline.wallTime(of: placed) == start + 4 * Self.second)
    }

    // MARK: Retention

    /// Creates files of an earlier recording, of the minutes before `2026-01-01T00:10:00Z`.
    private static func leaveFiles(_ count: Int, in directory: TemporaryDirectory) throws {
        for minute in 0..<count {
            let path = directory.file("0101/000\(minute)00.mkv")
            try FileManager.default.createDirectory(
                atPath: directory.file("0101"), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(filePath: path))
            let date = try Date("2026-01-01T00:0\(minute):59Z", strategy: .iso8601)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
    }

    private static func recorder(
        in directory: TemporaryDirectory, _ segments: RecordingSegments
    ) throws -> Recorder {
        // Files written now are years newer than the test clock; only the others have an age.
        try recorder(directory.file("%m%d/%H%M%S.mkv"), "2026-01-02T00:10:00Z") {
            $0.segments = segments
        }
    }

    @Test func oldFilesAreRemovedUnlessProtected() async throws {
        try await withTemporaryDirectory { directory in
            try Self.leaveFiles(9, in: directory)
            try Data().write(to: URL(filePath: directory.file("0101/000200.mkv.keep")))
            let recorder = try Self.recorder(
                in: directory,
                RecordingSegments(length: .seconds(1), keepAge: .seconds(24 * 3600 + 5 * 60)))
            let report = try await Self.record(50, into: recorder)
            #expect(report.removedFiles == 4)
            let left = try FileManager.default.contentsOfDirectory(
                atPath: directory.file("0101")
            ).sorted()
            #expect(
                left == [
                    "000200.mkv", "000200.mkv.keep", "000500.mkv", "000600.mkv", "000700.mkv",
                    "000800.mkv",
                ])
            #expect(report.files.count == 2)
        }
    }

    @Test func fullDiskRemovesAllFilesButTheNewest() async throws {
        try await withTemporaryDirectory { directory in
            try Self.leaveFiles(9, in: directory)
            let recorder = try Self.recorder(
                in: directory, RecordingSegments(length: .seconds(1), keepFree: .max))
            let events = recorder.events
            let report = try await Self.record(75, into: recorder)
            #expect(report.removedFiles == 11)
            #expect(report.files.map(\.frames) == [25] && report.video?.written == 75)
            // The directory of the day before is gone with its files.
            #expect(directory.contents == ["0102"])
            var reported = 0
            for await event in events { if case .fileRemoved = event { reported += 1 } }
            #expect(reported == 11)
        }
    }

    @Test func ringAlwaysKeepsTheNewestFile() async throws {
        try await withTemporaryDirectory { directory in
            let recorder = try Self.recorder(
                in: directory, RecordingSegments(length: .seconds(1), keepBytes: 1))
            let report = try await Self.record(50, into: recorder)
            #expect(report.files.map(\.frames) == [25] && report.removedFiles == 1)
        }
    }
}
