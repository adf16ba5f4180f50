internal import ArgumentParser
internal import FoundationEssentials
internal import MediaBridge

struct ClipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clip", abstract: "Copy a part of recordings into one file, without encoding.",
        discussion: """
            The clip begins with the last key frame up to --from, and ends with the last frame before --to and \
            any frame that it refers to. With --exact it begins with the first frame from --from on, and the \
            frames up to the next key frame are encoded again (H.264, VP8, VP9). Recordings that follow each \
            other are joined; a gap of more than a second between them stays a gap. The file extension selects \
            the container: .mkv, .mp4, .mov, .webm or .ts. A name that ends in .gif or .webp gets an animated \
            picture of one recording, from --from exactly, with --width and --fps.

            --from and --to are a time of the capture (14:03:20, 2026-11-27T14:03:20.5, \
            2026-11-27T13:03:20Z) or a time from the beginning of the first recording (0, 90s, 1m, 500ms).

            Examples:
              gst-bridge clip recordings --from 14:03:20 --to 14:05:00 goal.mkv
              gst-bridge clip camera.mp4 --from 90s --to 2m goal.mp4
              gst-bridge clip screen.mkv --from 10s --to 14s bug.gif
            """)

    @Argument(
        help: "Directories and files to copy from, then the file to write (e.g. goal.mkv).",
        completion: .file())
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            "Begin with the last key frame up to <time>. Default: the beginning.", valueName: "time"
        ))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "End before <time>, after frames that earlier ones refer to. Default: the end.",
            valueName: "time"))
    var to: String?

    @Option(help: "Video of the clip; none: leave it out.")
    var video = ClipStream.copy

    @Option(help: "Audio of the clip; none: leave it out.")
    var audio = ClipStream.copy

    @Flag(help: "Begin with the first frame from --from on. Default: with a key frame.")
    var exact = false

    @Option(
        help: ArgumentHelp(
            "Greatest width of an animated picture in pixels, 16 to 1920. Default: 480.",
            valueName: "pixels"))
    var width: Int?

    @Option(
        help: ArgumentHelp(
            "Pictures per second of an animated picture, 1 to 50. Default: 12.5.",
            valueName: "rate"))
    var fps: Double?

    @Flag(help: "Read and print times in UTC. Default: local time.")
    var utc = false

    @Flag(help: "Overwrite an existing file. Default: fail if the file exists.")
    var overwrite = false

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    func validate() throws {
        guard paths.count > 1 else {
            throw ValidationError("clip requires recordings, and the file to write at the end")
        }
        guard video == .copy || audio == .copy else {
            throw ValidationError("--video none cannot be combined with --audio none")
        }
        guard !isAnimated || video == .copy else {
            throw ValidationError("an animated picture has video: not --video none")
        }
        guard isAnimated || width == nil && fps == nil else {
            throw ValidationError("--width and --fps require a name that ends in .gif or .webp")
        }
    }

    private var isAnimated: Bool {
        paths.last.flatMap { AnimatedFormat(path: $0) } != nil
    }

    func run() async throws {
        let (paths, output) = (Array(paths.dropLast()), paths[paths.count - 1])
        let work = Task {
            let recordings = try await Recordings(of: paths)
            try await (isAnimated ? animate : copy)(recordings, output)
        }
        try await Interruption.value(of: work)
    }

    private func copy(_ recordings: Recordings, into output: String) async throws {
        let clip = try await recordings.clip(
            from: time(from, in: recordings), to: time(to, in: recordings), into: output,
            isExact: exact, hasVideo: video == .copy, hasAudio: audio == .copy,
            whenExists: overwrite ? .overwrite : .fail)
        switch report {
        case .none: break
        case .text: Terminal.write(text(clip).printable + "\n")
        case .json: print(try JSONLine.text(of: JSON(clip)))
        }
    }

    /// Makes an animated picture of the recording that contains the beginning.
    private func animate(_ recordings: Recordings, into output: String) async throws {
        let begin = try time(from, in: recordings) ?? recordings.files[0].began
        guard
            let file = recordings.files.last(where: { $0.began <= begin }) ?? recordings.files.first
        else { return }
        let end = try time(to, in: recordings)
        if let next = recordings.files.first(where: {
            $0.began > file.began && $0.began < end ?? .distantFuture
        }) {
            throw PipelineError(
                .badValue,
                message:
                    "an animated picture is of one recording, and \(next.path) begins in that time",
                advice: "--to a time before")
        }
        func offset(_ time: Date) -> Duration {
            .seconds(max(0, time.timeIntervalSince(file.began)))
        }
        let width = width ?? 480
        let made = try await file.animation(
            into: output, from: offset(begin), to: end.map(offset), width: width,
            framesPerSecond: fps ?? 12.5, whenExists: overwrite ? .overwrite : .fail)
        let (size, seconds) = (file.pictureSize(width: width), MediaTime(made.duration).seconds)
        switch report {
        case .none: break
        case .text:
            let text = "\(output): \(size.width)x\(size.height), \(made.frames) pictures, "
            Terminal.write(
                text.printable + "\(Text.decimal(seconds, 2)) s, \(Text.bytes(made.bytes))\n")
        case .json:
            print(
                try JSONLine.text(
                    of: AnimationJSON(
                        path: output, width: size.width, height: size.height,
                        pictures: made.frames, seconds: seconds.inThousandths, bytes: made.bytes))
            )
        }
    }

    /// The JSON format of an animated picture.
    private struct AnimationJSON: Encodable {
        let path: String
        let width, height, pictures: Int
        let seconds: Double
        let bytes: Int
    }

    /// - Throws: ``PipelineError`` for a text that is no time.
    private func time(_ text: String?, in recordings: Recordings) throws -> Date? {
        guard let text, let first = recordings.files.first else { return nil }
        if let offset = Duration(text: text, allowsZero: true) {
            return first.began + MediaTime(offset).seconds
        }
        return try recordings.time(text, isUTC: utc)
    }

    private func text(_ clip: Recordings.Clip) -> String {
        let lead = MediaTime(clip.lead).seconds
        let seconds = Text.decimal(MediaTime(clip.file.duration).seconds, 2)
        var lines = clip.leftOut.map { "left out: \($0)" }
        if from != nil, abs(lead) >= 0.001 {
            let places = abs(lead) < 0.1 ? 3 : 1
            lines.append(
                lead > 0
                    ? "begins \(Text.decimal(lead, places)) s earlier, at a key frame"
                    : "begins \(Text.decimal(-lead, places)) s later, where the recording begins")
        }
        if clip.encoded > 0 { lines.append("encoded \(clip.encoded) frames at the beginning") }
        lines += clip.gaps.map { "gap of \(Text.decimal(MediaTime($0).seconds, 1)) s" }
        let times = RecordingTimes(isUTC: utc)
        return
            (lines + [
                "\(clip.file.path): \(times.text(clip.file.began)), \(clip.file.frames) frames, \(seconds) s, "
                    + "\(Text.bytes(clip.file.bytes)), from \(clip.sources.count) "
                    + (clip.sources.count == 1 ? "recording" : "recordings")
            ]).joined(separator: "\n")
    }

    /// The JSON format that scripts can rely on.
    private struct JSON: Encodable {
        let file: ReportedFile
        let sources: [String]
        /// How much earlier than --from it begins, in seconds.
        let lead: Double
        /// Number of frames that --exact encoded again.
        let encoded: Int
        /// In seconds.
        let gaps: [Double]
        let leftOut: [String]

        init(_ clip: Recordings.Clip) {
            (file, sources, leftOut) = (ReportedFile(clip.file), clip.sources, clip.leftOut)
            encoded = clip.encoded
            lead = MediaTime(clip.lead).seconds.inThousandths
            gaps = clip.gaps.map { MediaTime($0).seconds.inThousandths }
        }
    }
}

/// The argument for a stream of a clip.
enum ClipStream: String, ExpressibleByArgument, CaseIterable {
    case copy, none
}
