import Foundation
import GStreamerKit
import TestSupport
import Testing

@testable import MediaBridge

/// mp4 files whose fragments were joined at the end.
@Suite("Finished mp4 files", .hangGuard) struct MovieFinishTests {
    /// Captures whose media needs different index entries.
    private static let captures = [
        "pictures": "videotestsrc num-buffers=70 ! video/x-raw,width=64,height=48,framerate=30/1",
        "reordered pictures":
            "videotestsrc num-buffers=70 ! video/x-raw,width=64,height=48,framerate=30/1 "
            + "! x264enc bframes=3 key-int-max=20 ! h264parse",
        "sound": "audiotestsrc num-buffers=100",
        "both": "videotestsrc num-buffers=70 ! video/x-raw,width=64,height=48,framerate=30/1 "
            + "! appsink name=video audiotestsrc num-buffers=120 ! appsink name=audio",
        "late sound":
            "videotestsrc num-buffers=70 ! video/x-raw,width=64,height=48,framerate=30/1 "
            + "! appsink name=video audiotestsrc num-buffers=60 timestamp-offset=700000000 "
            + "! appsink name=audio",
        "late pictures":
            "videotestsrc num-buffers=40 timestamp-offset=700000000 "
            + "! video/x-raw,width=64,height=48,framerate=30/1 ! appsink name=video "
            + "audiotestsrc num-buffers=120 ! appsink name=audio",
        "sound of a tenth of the pictures":
            "videotestsrc num-buffers=300 ! video/x-raw,width=64,height=48,framerate=25/1 "
            + "! appsink name=video audiotestsrc num-buffers=50 timestamp-offset=11000000000 "
            + "! appsink name=audio",
        "pictures of a tenth of the sound":
            "videotestsrc num-buffers=25 ! video/x-raw,width=64,height=48,framerate=25/1 "
            + "! appsink name=video audiotestsrc num-buffers=500 ! appsink name=audio",
        "pictures of uneven length":
            "videotestsrc num-buffers=40 ! video/x-raw,width=64,height=48,framerate=30/1 "
            + "! identity drop-probability=0.4",
    ]

    private static func record(
        _ capture: String, to path: String, isFragmented: Bool
    ) async throws {
        var configuration = Recorder.Configuration()
        configuration.audio = AudioEncoding()
        configuration.isFragmented = isFragmented
        var plan = BridgePlan(capture: capture)
        plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
        _ = try await Bridge(plan).run()
    }

    /// The types of the boxes at the top level.
    private static func boxes(of path: String) throws -> [String] {
        var types: [String] = []
        try FileBytes(path).forEachBox { type, _, _ in types.append(type) }
        return types
    }

    /// The times, the size, the flags and a hash of every packet, as ffmpeg reads them.
    private static func packets(of path: String) async throws -> [Substring] {
        try await Tool.check(
            "ffprobe",
            [
                "-v", "error", "-show_entries",
                "packet=stream_index,pts_time,dts_time,size,flags,data_hash", "-show_data_hash",
                "md5", "-of", "csv=p=0", path,
            ]
        ).split(separator: "\n").sorted()
    }

    @Test(arguments: captures.keys.sorted())
    func indexMatchesTheFragments(capture: String) async throws {
        let text = try #require(Self.captures[capture])
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            try await Self.record(text, to: path, isFragmented: true)
            #expect(try Self.boxes(of: path).contains("moof"))
            let before = try await Self.packets(of: path)
            try #require(try MovieFinish(path)).run()
            #expect(try Self.boxes(of: path) == ["ftyp", "mdat", "moov"])
            let after = try await Self.packets(of: path)
            #expect(before == after)
            #expect(try await MediaProbe(of: path).streams.allSatisfy { $0.frames > 12 })
            // GStreamer reads the same.
            let streams = try await StreamScan(of: path, demuxer: "qtdemux", parsers: [:]).run()
            #expect(streams.reduce(0) { $0 + $1.times.count } == before.count)
        }
    }

    @Test func finishedFileIsUnfragmentedByDefault() async throws {
        try await withTemporaryDirectory { directory in
            let capture = try #require(Self.captures["both"])
            for isFragmented in [false, true] {
                let path = directory.file("\(isFragmented).mp4")
                try await Self.record(capture, to: path, isFragmented: isFragmented)
                let boxes = try Self.boxes(of: path)
                #expect(boxes.contains("moof") == isFragmented && boxes.count { $0 == "moov" } == 1)
                // A second attempt finds nothing to do.
                if !isFragmented { #expect(try MovieFinish(path) == nil) }
            }
        }
    }

    /// In QuickTime the length of a name is one byte.
    @Test(arguments: ["mp4", "mov"])
    func onlyQuickTimeCutsALongTitle(ending: String) async throws {
        try await withTemporaryDirectory { directory in
            let capture = try #require(Self.captures["both"])
            let path = directory.file("out.\(ending)")
            try await Self.record(capture, to: path, isFragmented: true)
            let title = String(repeating: "é", count: 200)
            try #require(try MovieFinish(path)).run(titles: [nil, title])
            let file = try FileBytes(path)
            var index: [UInt8] = []
            try file.forEachBox { type, place, size in
                if type == "moov" { index = file.read(size, at: place) ?? [] }
            }
            let movie = try #require(MovieBoxes(index, 0..<index.count).first { _ in true })
            let handlers = movie.children("trak").compactMap { $0.child("mdia")?.child("hdlr") }
            let handler = try #require(handlers.first { $0.letters(at: 8) == "soun" })
            let name = Array(handler.bytes[handler.content.dropFirst(24)])
            let whole = Array(title.utf8)
            let expected = ending == "mov" ? [254] + Array(whole.prefix(254)) : whole + [0]
            #expect(name == expected)
        }
    }

    /// Returns a recording with many fragments of random lengths.
    private static func longMovie(
        fragments: Int, seed: UInt64, in directory: TemporaryDirectory
    ) async throws -> LongMovie {
        let template = directory.file("template.mp4")
        try await Self.record(
            try #require(captures["both"]), to: template, isFragmented: true)
        var movie = try LongMovie(template: Data(contentsOf: URL(filePath: template)))
        var generator = SeededGenerator(seed: seed)
        for index in 0..<fragments {
            let durations = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                UInt32.random(in: 90...110, using: &generator)
            }
            movie.add(
                track: 1, durations: durations, size: Int.random(in: 4...40, using: &generator),
                isKey: index % 5 == 0)
            // As long as the pictures: 3000 and 48,000 units a second.
            movie.add(track: 2, durations: durations.map { $0 * 16 })
        }
        return movie
    }

    @Test(arguments: [1, 2] as [UInt64])
    func finishesARecordingOfHours(seed: UInt64) async throws {
        try await withTemporaryDirectory { directory in
            let fragments = 20_000
            let movie = try await Self.longMovie(
                fragments: fragments, seed: seed, in: directory)
            let path = directory.file("long.mp4")
            try movie.write(to: path)
            let recorded = try RecordedContainer.of(path)
            let before = try await StreamScan(
                of: path, demuxer: "qtdemux", fragments: recorded.fragments
            ).run()
            #expect(before.map(\.times.count) == movie.samples)
            // Each fragment is progress: the recorder does not give up a file that it still reads.
            var progress = 0
            try #require(try MovieFinish(path) { progress += 1 }).run()
            #expect(progress >= fragments)
            #expect(try Self.boxes(of: path) == ["ftyp", "mdat", "moov"])
            let after = try await StreamScan(of: path, demuxer: "qtdemux").run()
            let areKeysKept = after.first?.keys == before.first?.keys
            #expect(areKeysKept)
            for (one, other) in zip(before, after) {
                let differences = zip(one.times, other.times).filter {
                    abs(($0 ?? 0) - ($1 ?? 0)) > 1
                }
                #expect(one.times.count == other.times.count && differences.isEmpty)
            }
        }
    }

    @Test(arguments: [("1/3600", 3600.0), ("1/100000", 100_000), ("1/2", 2), ("3/7", 7.0 / 3)])
    func storesTheTimesOfALowFrameRate(rate: String, seconds: Double) async throws {
        try await withTemporaryDirectory { directory in
            for isFragmented in [false, true] {
                let path = directory.file("\(isFragmented).mp4")
                try await Self.record(
                    "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48,framerate=\(rate)",
                    to: path, isFragmented: isFragmented)
                _ = try await Recordings.repair(path)
                let times = try await Self.packets(of: path)
                    .compactMap { Double($0.split(separator: ",")[1]) }.sorted()
                #expect(times.count == 5)
                for (index, time) in times.enumerated() {
                    #expect(abs(time - Double(index) * seconds) < 0.001, "\(times)")
                }
            }
        }
    }

    @Test func repairsARecordingOfHours() async throws {
        try await withTemporaryDirectory { directory in
            let movie = try await Self.longMovie(fragments: 20_000, seed: 3, in: directory)
            let path = directory.file("long.mp4")
            try movie.write(to: path)
            let listed = try await Recordings.file(at: path)
            #expect(listed.state == .interrupted && listed.streams.count == 2)
            let report = try await Recordings.repair(path)
            #expect(report.tracks.map(\.frames) == movie.samples)
            let repaired = try await Recordings.file(at: path)
            #expect(report.file.path == path && report.file.state == .finished)
            #expect(report.file.duration == repaired.duration)
            #expect(abs((repaired.duration - listed.duration) / .milliseconds(1)) < 100)
        }
    }

    @Test(arguments: 0..<4)
    func killWhileAFileIsFinishedLosesNothing(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            try await Self.record(
                try #require(Self.captures["both"]), to: path, isFragmented: true)
            let before = try Data(contentsOf: URL(filePath: path))
            let packets = try await Self.packets(of: path)
            try #require(try MovieFinish(path)).run()
            let after = try Data(contentsOf: URL(filePath: path))
            var index = Data(after[before.count...])
            index.replaceSubrange(4..<8, with: Data("free".utf8))
            // While the index is appended, and before the old one is hidden.
            var states = (0..<8).map { _ in
                before + index.prefix(Int.random(in: 1..<index.count, using: &generator))
            }
            states += [before + index.prefix(4), before + index.prefix(8), before + index]
            states.append(before + after[before.count...])
            for (number, state) in states.enumerated() {
                let state = state as Data
                let killed = directory.file("killed-\(number).mp4")
                try state.write(to: URL(filePath: killed))
                let left = "seed \(seed), state \(number): \(state.count) of \(after.count) bytes"
                #expect(try await Self.packets(of: killed) == packets, "\(left)")
                let report = try await Recordings.repair(killed)
                #expect(report.tracks.map(\.frames).reduce(0, +) == packets.count, "\(left)")
                #expect(try Self.boxes(of: killed).filter { $0 == "moov" }.count == 1, "\(left)")
            }
        }
    }

    @Test func fragmentsWithInvalidValuesAreRefused() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.file("out.mp4")
            try await Self.record(
                try #require(Self.captures["both"]), to: path, isFragmented: true)
            let whole = try Data(contentsOf: URL(filePath: path))
            let start = try #require(whole.range(of: Data("moof".utf8))).lowerBound
            var (refused, joined) = (0, 0)
            for seed in 0..<400 {
                var generator = SeededGenerator(seed: UInt64(seed))
                var bytes = whole
                // In the index or in the first fragment.
                let place = Int.random(in: 8..<start + 280, using: &generator)
                let odd: [UInt8] = [0, 1, 0x7f, 0x80, 0xff]
                for offset in 0..<Int.random(in: 1...8, using: &generator) {
                    bytes[place + offset] = odd.randomElement(using: &generator) ?? 0
                }
                try bytes.write(to: URL(filePath: path))
                do {
                    try MovieFinish(path)?.run()
                    joined += 1
                } catch {
                    refused += 1
                    // The file is as it was.
                    #expect(try Data(contentsOf: URL(filePath: path)) == bytes, "seed \(seed)")
                }
            }
            #expect(refused > 20 && joined > 20, "\(refused) and \(joined)")
        }
    }
}
