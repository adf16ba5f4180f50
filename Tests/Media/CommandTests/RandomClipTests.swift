import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// Clips of random recordings: every picture of the range is there once, in order.
    /// `COPIED=300 SEED=7` makes more cases.
    @Suite(.hangGuard) struct RandomClipTests {
        private static let seed =
            ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? 1
        private static let count =
            ProcessInfo.processInfo.environment["COPIED"].flatMap { Int($0) } ?? 6

        @Test func everyClipHasEachFrameOnce() async throws {
            var random = SeededGenerator(seed: Self.seed)
            for number in 0..<Self.count {
                let clip = RandomClip(&random)
                try await check(clip, "seed \(Self.seed), case \(number): \(clip)")
            }
        }

        private func check(_ clip: RandomClip, _ name: String) async throws {
            let title = Comment(rawValue: name)
            try await withTemporaryDirectory { directory in
                let source = directory.file("source.\(clip.container == "webm" ? "webm" : "mkv")")
                try await CountedFilm.make(
                    source, count: clip.count, rate: clip.rate, clip.encoding)
                let paths = try await clip.write(source, in: directory)
                var recorded: [Int] = []
                for path in paths {
                    // The last segment may have sound only.
                    recorded += (try? await CountedFilm.numbers(of: path)) ?? []
                }
                let seconds =
                    Double(recorded.count * clip.count) / Double(clip.rate)
                    / Double(try await CountedFilm.numbers(of: source).count)
                let (from, to) = (clip.from * seconds, clip.from * seconds + clip.length * seconds)
                let output = directory.file("out.\(clip.target)")
                let ended = try await GstBridge.run(
                    ["clip"] + paths + (clip.isExact ? ["--exact"] : [])
                        + ["--from", "\(Int(from * 1000))ms", "--to", "\(Int(to * 1000) + 100)ms"]
                        + [output])
                // Decoders show nothing after other parameter sets until an IDR picture, and transport streams
                // state the parameter sets at IDR pictures only.
                if ended.errors.contains("does not begin with an IDR picture")
                    || ended.errors.contains("a key frame that is no IDR picture")
                {
                    return
                }
                #expect(ended.status == 0, "\(title): \(ended.errors)")
                let numbers = try await CountedFilm.numbers(of: output)
                let all = try await CountedFilm.numbers(of: source)
                let first = try #require(numbers.first.flatMap { all.firstIndex(of: $0) }, title)
                // Pictures that the last ones refer to may follow.
                let whole = zip(numbers, all[first...]).prefix { $0 == $1 }.count
                #expect(numbers.count - whole <= 3, "\(title): \(numbers) of \(recorded)")
                #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, title)
                guard !clip.isVariable, clip.hasKnownTimes, let zero = recorded.first else {
                    return
                }
                // Sound may begin before the pictures.
                let frames = Double(clip.rate)
                // The sound of each file may be longer than its pictures.
                let slack = (clip.hasWholeSeconds ? 1.3 : 0.3) * frames + 1
                let begins = Double(numbers[0] - zero)
                #expect(begins < from * frames + (clip.hasWholeSeconds ? frames : 1), title)
                #expect(!clip.isExact || begins > from * frames - slack, title)
                let due = min(to * frames, Double(recorded.count) - 1) - slack
                #expect(Double(numbers[whole - 1] - zero) >= due, title)
            }
        }
    }
}

/// A recording of random kind, and the part of it that is clipped.
private struct RandomClip: CustomStringConvertible {
    enum Writer: String, CaseIterable {
        /// Files of ffmpeg: one, one that begins later, segments whose times continue or restart, and one that
        /// an edit list trims.
        case whole, shifted, segments, restarted, trimmed
        /// Files of `gst-bridge record`.
        case own
    }
    let writer: Writer
    let container, target: String
    let rate, count: Int
    let isVariable, isExact: Bool
    let encoding: [String]
    let sound: String
    /// Parts of the recording's length.
    let from, length: Double
    private let start, segment: Double

    init(_ random: inout SeededGenerator) {
        func chance(_ parts: Int) -> Bool { Int.random(in: 0..<parts, using: &random) == 0 }
        let container = ["mkv", "mkv", "mp4", "mp4", "ts", "webm"].randomElement(using: &random)!
        self.container = container
        let isWebM = container == "webm"
        target = (isWebM ? ["webm", "mkv"] : ["mkv", "mp4", "ts"]).randomElement(using: &random)!
        rate = [25, 30, 60].randomElement(using: &random)!
        count = [90, 120, 150, 180].randomElement(using: &random)!
        isVariable = chance(4)
        isExact = chance(2)
        sound = chance(3) ? "" : isWebM ? "libopus" : "aac"
        let isMP4 = container == "mp4"
        let writers = Writer.allCases.filter { $0 != .trimmed || isMP4 }
        writer = writers.randomElement(using: &random)!
        (start, segment) = (
            [0.3, 4.7, 3600].randomElement(using: &random)!,
            [0.7, 1.1, 1.9].randomElement(using: &random)!
        )
        from = Double.random(in: 0..<0.9, using: &random)
        length = Double.random(in: 0.05...1, using: &random)
        // ffmpeg writes parameter sets into transport streams before IDR pictures only.
        let mayBeOpen = container != "ts"
        let group = Int.random(in: 8...70, using: &random)
        let reordered = isWebM ? 0 : [0, 2, 3].randomElement(using: &random)!
        encoding =
            (isVariable ? ["-vf", #"select='gt(mod(n*n*7+n\,5)\,0)'"#, "-fps_mode", "vfr"] : [])
            + ["-g", "\(group)"] + (sound.isEmpty ? ["-an"] : ["-c:a", sound])
            + (isWebM
                ? ["-c:v", chance(2) ? "libvpx" : "libvpx-vp9", "-deadline", "realtime"]
                : [
                    "-c:v", "libx264", "-bf", "\(reordered)", "-x264-params",
                    "open-gop=\(reordered > 0 && mayBeOpen && chance(3) ? 1 : 0)",
                ])
    }

    var description: String {
        "\(writer) .\(container) to .\(target), \(encoding.joined(separator: " ")), \(count) at \(rate), "
            + "\(isExact ? "exact " : "")\(from) for \(length), start \(start), segments of \(segment)"
    }

    /// Whether the times of its files are those of its pictures: the edit list shifts them, and the time of a
    /// recorded transport stream is estimated from the end of its writing.
    var hasKnownTimes: Bool { writer != .trimmed && !(writer == .own && container == "ts") }

    /// Whether each file states the second of its beginning only.
    var hasWholeSeconds: Bool { writer == .own && container == "mp4" }

    /// Writes the recording's files, the first four at most.
    func write(_ source: String, in directory: TemporaryDirectory) async throws -> [String] {
        let one = directory.file("part0.\(container)")
        let several = directory.file("part%02d.\(container)")
        let segments = ["-f", "segment", "-segment_time", "\(segment)"]
        switch writer {
        case .whole: try await CountedFilm.copy(source, [], to: one)
        case .shifted:
            try await CountedFilm.copy(source, ["-output_ts_offset", "\(start)"], to: one)
        case .segments: try await CountedFilm.copy(source, segments, to: several)
        case .restarted:
            try await CountedFilm.copy(source, segments + ["-reset_timestamps", "1"], to: several)
        case .trimmed:
            let begin = from * Double(count) / Double(rate) / 2
            try await Tool.check(
                "ffmpeg",
                ["-v", "error", "-nostdin", "-ss", "\(begin)", "-i", source, "-c", "copy", one])
        case .own:
            let parser = container == "webm" ? "" : "h264parse ! "
            let sound =
                sound.isEmpty
                ? ""
                : " d.audio_0 ! queue ! \(sound == "aac" ? "aac" : "opus")parse ! appsink name=audio"
            let ended = try await GstBridge.run([
                "record", "--segment", "\(segment)s", "--capture",
                "filesrc location=\(source) ! matroskademux name=d d.video_0 ! queue ! \(parser)"
                    + "appsink name=video" + sound, directory.file("part.\(container)"),
            ])
            guard ended.status == 0 else { throw ChildProcess.Failure(description: ended.errors) }
        }
        return directory.contents.filter { $0.hasPrefix("part") }.prefix(4).map {
            directory.file($0)
        }
    }
}
