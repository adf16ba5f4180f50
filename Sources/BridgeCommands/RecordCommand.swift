internal import ArgumentParser
internal import Glibc
internal import MediaBasics
internal import MediaBridge
internal import Synchronization
internal import UnixSignals

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record to a crash-safe file.",
        usage: "gst-bridge record [<pipeline-file>] <recording> [<options>]",
        discussion: """
            The file extension selects the container: .mkv, .mp4, .webm or .ts. The file plays even after \
            kill -9; 'gst-bridge repair' then restores its duration and index.

            If a capture has both video and audio, name its streams: appsink name=video, appsink \
            name=audio. The outputs of a pipeline file run beside the recording. To record without them, \
            give the file's capture string with --capture.

            --segment and --segment-size number the files: out-00000.mkv, out-00001.mkv and so on. With \
            %Y, %m, %d, %H, %M, %S in the path, files are named by the time of their first picture, in \
            directories that are created; %% is a percent sign. --align ends files at whole multiples of \
            --segment by the clock.

            --keep, --keep-size, --keep-age and --keep-free delete the oldest files, including those of \
            earlier recordings, but never the newest one, and no FILE beside which there is a FILE.keep.

            With --replay, nothing is recorded until SIGUSR1 arrives, or Enter is pressed in a terminal. \
            Each time, the last <duration> is saved to a new numbered file. With --untrusted <dir>, the \
            recording must be in <dir>.

            Examples:
              gst-bridge record out.mkv
              gst-bridge record --capture "v4l2src ! videoconvert" cam.mp4 --segment 10m
              gst-bridge record "cam-%Y%m%d/%H%M%S.mkv" --segment 10m --align --keep-age 7d
            """)

    @Argument(
        help: ArgumentHelp(
            "File to record to (e.g. out.mkv), after an optional pipeline file (e.g. camera.yaml).",
            valueName: "paths"),
        completion: .file())
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            """
            Video codec: \(VideoCodec.names), copy (record encoded video unchanged) or none. Default: copy \
            encoded video, encode raw video.
            """,
            valueName: "codec"))
    var video: Choice<VideoCodec>?

    @Option(
        help: ArgumentHelp(
            """
            Audio codec: \(AudioCodec.names), copy (record encoded audio unchanged) or none. Default: copy \
            encoded audio, encode raw audio.
            """,
            valueName: "codec"))
    var audio: Choice<AudioCodec>?

    @Option(
        help: ArgumentHelp(
            """
            Scale all video to this size, with borders (e.g. 1280x720). Default: start a new file when the \
            size changes.
            """,
            valueName: "widthxheight"))
    var size: PictureSize?

    @Option(
        help: ArgumentHelp(
            "Video bit rate in bits/s (e.g. 800k, 4M). Default: constant quality.",
            valueName: "bits/s"))
    var bitrate: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Audio bit rate in bits/s (e.g. 128k). Default: 64k per channel.", valueName: "bits/s"))
    var audioBitrate: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Start a new file every <duration> (e.g. 10m). Default: one file.",
            valueName: "duration"))
    var segment: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Start a new file before one exceeds <bytes> (e.g. 100M, 2G). Default: no limit.",
            valueName: "bytes"))
    var segmentSize: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Keep only the newest <n> segments (e.g. 6). Default: keep all.", valueName: "n"))
    var keep: Int?

    @Option(
        help: ArgumentHelp(
            "Keep only the newest segments, up to <bytes> in total (e.g. 10G). Default: keep all.",
            valueName: "bytes"))
    var keepSize: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Keep only files that were written to within <duration> (e.g. 7d). Default: keep all.",
            valueName: "duration"))
    var keepAge: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Delete files while the disk has less than <bytes> free (e.g. 20G). Default: keep all.",
            valueName: "bytes"))
    var keepFree: SizeArgument?

    @Flag(
        help: """
            End files at multiples of --segment by the clock: with 10m, at :00, :10, :20 and so on. \
            Default: --segment after they began.
            """)
    var align = false

    @Flag(help: "Dates in the path and --align in UTC. Default: local time.")
    var utc = false

    @Option(
        help: ArgumentHelp(
            """
            End the recording when the disk has less than <bytes> free (e.g. 100M); 0: only when it is \
            full. Default: 4M.
            """,
            valueName: "bytes"))
    var reserve: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Keep the last <duration> in memory (e.g. 30s), and save it on SIGUSR1 or Enter.",
            valueName: "duration"))
    var replay: DurationArgument?

    @Flag(help: "Keep the fragments of a finished mp4. Default: one index, as editors expect.")
    var fragmented = false

    @Flag(help: "Overwrite an existing file. Default: fail if the file exists.")
    var overwrite = false

    @OptionGroup var options: BridgeOptions

    func validate() throws {
        if overwrite, replay != nil || segment != nil || segmentSize != nil {
            throw ValidationError(
                "--overwrite cannot be combined with --segment, --segment-size or --replay: "
                    + "numbered files never overwrite others")
        }
        if replay != nil, segment != nil || segmentSize != nil {
            throw ValidationError("--segment and --segment-size cannot be combined with --replay")
        }
        guard paths.count == 1 || paths.count == 2 else {
            throw ValidationError("Give one recording, after at most one pipeline file")
        }
        if paths.count == 2, (try? RecordingContainer(path: paths[0])) != nil {
            throw ValidationError("Give one recording, not \(paths[0]) and \(paths[1])")
        }
        try options.check(hasFile: paths.count == 2)
        for (name, size) in [
            ("--bitrate", bitrate), ("--audio-bitrate", audioBitrate), ("--keep-size", keepSize),
            ("--segment-size", segmentSize), ("--keep-free", keepFree),
        ] where size?.value == 0 {
            throw ValidationError("\(name) must be 1 or more")
        }
        if let keep, keep < 1 { throw ValidationError("--keep must be 1 or more") }
        if hasRing, segment == nil, segmentSize == nil {
            throw ValidationError(
                "--keep, --keep-size, --keep-age and --keep-free require --segment or "
                    + "--segment-size")
        }
        if align, segment == nil { throw ValidationError("--align requires --segment") }
        if utc, !align, !isDated {
            throw ValidationError("--utc requires --align, or a date in the path (e.g. %Y%m%d)")
        }
        if overwrite, isDated {
            throw ValidationError(
                "--overwrite cannot be combined with dates: dated files never overwrite others")
        }
    }

    private var hasRing: Bool {
        keep != nil || keepSize != nil || keepAge != nil || keepFree != nil
    }

    private var isDated: Bool { paths.last?.contains("%") == true }

    func run() async throws {
        let configuration = self.configuration
        let path = paths[paths.count - 1]
        let saver = replay == nil ? nil : await ReplaySaver(path: path, dates: configuration.dates)
        // Without a handler, the signal would end the process.
        let refusal = saver == nil ? await ReplaySaver.refuse() : nil
        defer { refusal?.cancel() }
        try await options.run(file: paths.count == 2 ? paths[0] : nil, replays: saver) { plan in
            try plan.untrusted?.check(path: path)
            if !plan.outputs.isEmpty {
                let names = plan.outputs.map(\.name).joined(separator: ", ")
                Terminal.say("outputs besides the recording: \(names)")
            }
            plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
            plan.recordings[0].startsWithBridge = saver == nil
        } onStart: { bridge in
            guard let recorder = bridge.recorders.first else { return }
            saver?.begin(recorder)
            let events = recorder.events
            Task { for await event in events { RecordingNews.tell(event) } }
        }
    }

    private var configuration: Recorder.Configuration {
        var configuration = Recorder.Configuration()
        switch video ?? .automatic {
        case .none: configuration.video = nil
        case .copy: configuration.video = .copy
        case .automatic: configuration.video?.bitRate = bitrate?.value
        case .codec(let codec): configuration.video = VideoEncoding(codec, bitRate: bitrate?.value)
        }
        switch audio ?? .automatic {
        case .none: configuration.audio = nil
        case .copy: configuration.audio = .copy
        case .automatic: configuration.audio = AudioEncoding(bitRate: audioBitrate?.value)
        case .codec(let codec):
            configuration.audio = AudioEncoding(codec, bitRate: audioBitrate?.value)
        }
        configuration.video?.size = size?.size
        if segment != nil || segmentSize != nil {
            configuration.segments = RecordingSegments(
                length: segment?.value, bytes: segmentSize?.value,
                keep: hasRing
                    ? RecordingSegments.Ring(
                        files: keep, bytes: keepSize?.value, age: keepAge?.value,
                        free: keepFree?.value) : nil)
            configuration.segments?.isAligned = align
        }
        if isDated || utc { configuration.dates = utc ? .utc : .local }
        configuration.isFragmented = fragmented
        configuration.replay = replay?.value
        configuration.whenExists = replay != nil ? .number : overwrite ? .overwrite : .fail
        if let reserve { configuration.reserve = reserve.value }
        return configuration
    }
}

/// The argument for the size of pictures: `1280x720`.
struct PictureSize: ExpressibleByArgument, Sendable {
    let size: VideoSize

    init?(argument: String) {
        let parts = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false)
            .map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1] else { return nil }
        size = VideoSize(width: width, height: height)
        guard size.isValid else { return nil }
    }
}

/// The argument for a codec: a codec, `copy`, `auto` or `none`.
enum Choice<Codec: RecordedCodec>: ExpressibleByArgument, Sendable {
    case automatic
    case none
    case copy
    case codec(Codec)

    init?(argument: String) {
        switch argument.lowercased() {
        case "none": self = .none
        case "auto": self = .automatic
        case "copy": self = .copy
        case let name:
            guard let codec = Codec.recorded.first(where: { $0.rawValue == name }) else {
                return nil
            }
            self = .codec(codec)
        }
    }
}

/// A codec with which a recording can be encoded.
protocol RecordedCodec: RawRepresentable<String>, Sendable {
    /// The codecs of Matroska, which takes all of them.
    static var recorded: [Self] { get }
}

extension RecordedCodec {
    static var names: String { recorded.map(\.rawValue).joined(separator: ", ") }
}

extension VideoCodec: RecordedCodec {
    static var recorded: [VideoCodec] { RecordingContainer.mkv.videoCodecs }
}

extension AudioCodec: RecordedCodec {
    static var recorded: [AudioCodec] { RecordingContainer.mkv.audioCodecs }
}

// MARK: Replays

/// Saves replays while a bridge runs: at each SIGUSR1, and at each Enter in a terminal.
final class ReplaySaver: Sendable {
    /// What was saved, and whether all of it could be.
    struct Outcome {
        var files: [RecorderReport.File] = []
        var hasFailed = false
    }

    private let names: RecordingNames
    private let wishes: AsyncStream<Void>
    private let wish: AsyncStream<Void>.Continuation
    private let signals: Task<Void, Never>
    private let saving = Mutex<Task<Outcome, Never>?>(nil)

    /// Begins to take signals, which would end the process otherwise.
    ///
    /// - Parameter path: The files get it with a number: `goal-00000.mkv`, or with their date.
    init(path: String, dates: RecordingDates) async {
        names = RecordingNames(path, isNumbered: true, dates: dates)
        (wishes, wish) = AsyncStream.makeStream()
        let sequence = await UnixSignalsSequence(trapping: .sigusr1)
        signals = Task { [wish] in for await _ in sequence { wish.yield() } }
        if isatty(STDIN_FILENO) != 0 { readKeys() }
    }

    /// Takes signals of a recording that keeps nothing for replays, and says so.
    ///
    /// - Returns: What takes them, to be cancelled.
    static func refuse() async -> Task<Void, Never> {
        let sequence = await UnixSignalsSequence(trapping: .sigusr1)
        return Task {
            for await _ in sequence {
                Terminal.say(
                    "cannot save a replay: this recording keeps no media for it. Try: --replay 30s")
            }
        }
    }

    /// Reads lines for as long as the process lives. In the background a terminal cannot be read,
    /// and a process that tries is stopped, unless it ignores the signal.
    private func readKeys() {
        signal(SIGTTIN, SIG_IGN)
        let wish = self.wish
        _ = startThread("keys") { while readLine() != nil { wish.yield() } }
    }

    /// Saves what a recorder keeps, at each wish.
    func begin(_ recorder: Recorder) {
        let key = isatty(STDIN_FILENO) != 0 ? "Enter" : "kill -USR1 \(getpid())"
        let next = names.isDated ? names.path : names.nextPath()
        Terminal.say("nothing is recorded; \(key) saves the last seconds to \(next)")
        let task = Task { [names, wishes] in
            var outcome = Outcome()
            for await _ in wishes {
                do throws(PipelineError) {
                    let path = names.nextPath()
                    try names.createDirectory(of: path)
                    let files = try await recorder.saveReplay(path)
                    outcome.files += files
                    for file in files {
                        let seconds = Text.decimal(MediaTime(file.duration).seconds, 2)
                        Terminal.say("saved \(file.path): \(seconds) s, \(Text.bytes(file.bytes))")
                    }
                } catch {
                    outcome.hasFailed = true
                    Terminal.complain(error)
                }
            }
            return outcome
        }
        saving.withLock { $0 = task }
    }

    /// Ends, and waits for what is being saved.
    func end() async -> Outcome {
        signals.cancel()
        wish.finish()
        return await saving.withLock({ $0 })?.value ?? Outcome()
    }
}
