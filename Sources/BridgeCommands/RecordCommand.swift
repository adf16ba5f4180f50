internal import ArgumentParser
internal import Glibc
internal import MediaBasics
internal import MediaBridge

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record to a crash-safe file.",
        usage: "gst-bridge record [<pipeline-file>] <recording> [<options>]",
        discussion: """
            The file extension selects the container: .mkv, .mp4, .mov, .webm or .ts; for audio only .m4a, .ogg, \
            .flac or .wav. The file plays even after kill -9; 'gst-bridge repair' then restores its duration \
            and index (.ogg, .flac and .wav need no repair). '-' writes to standard output. \
            frames-%06d.png (or .jpg) writes a picture for each frame, with its number.

            If a capture has both video and audio, name its streams: appsink name=video, appsink \
            name=audio, and appsink name=audio2 for a second audio track. Of a capture that ends in decodebin or a demuxer, the first video and the first audio \
            are recorded. The outputs of a pipeline file run beside the recording. To record without them, \
            give the file's capture string with --capture.

            --segment and --segment-size number the files: out-00000.mkv, out-00001.mkv and so on. With \
            %Y, %m, %d, %H, %M, %S in the path, files are named by the time of their first picture, in \
            directories that are created; %% is a percent sign. --align ends files at whole multiples of \
            --segment by the clock.

            --keep, --keep-size, --keep-age and --keep-free delete the oldest files, including those of \
            earlier recordings, but never the newest one, and no FILE beside which there is a FILE.keep: \
            such files do not count.

            With --replay, nothing is recorded until SIGUSR1 arrives, or Enter is pressed in a terminal. \
            Each time, the last <duration> is saved to a new numbered file. Without it, SIGUSR2 or Enter \
            marks the moment: a chapter of an .mkv, .webm, .mp4 or .mov. With --untrusted <dir>, the recording must be in <dir>.

            With --when, each event has another file, which begins --before it with a key frame and ends --after it; \
            events whose files would touch share one. --video copy keeps a camera's own encoding. A detector has \
            options: motion=0.8 (sensitivity from 0 to 1), motion=area:50x100+50+0 (width, height, left and top in \
            percent), motion=rate:10 (pictures per second), motion=keyframes (decodes only key frames of encoded \
            video: far less work), frozen=for:5s.

            The terminal and the socket of --control take these requests, one a line: start, stop, split, \
            pause, resume, mark [<name>], replay [<duration>], status, and set, get and properties, which \
            'gst-bridge ctl --help' describes. 'gst-bridge ctl' sends one.

            Examples:
              gst-bridge record out.mkv
              gst-bridge record --capture "v4l2src ! videoconvert" cam.mp4 --segment 10m
              gst-bridge record --capture pulsesrc talk.flac
              gst-bridge record - | ffplay -
              gst-bridge record "cam-%Y%m%d/%H%M%S.mkv" --segment 10m --align --keep-age 7d
              gst-bridge record cam.mkv --control /tmp/cam.sock --idle
              gst-bridge record "cam-%Y%m%d-%H%M%S.mkv" --when motion=keyframes --before 5s --after 10s
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
            valueName: "codec"),
        completion: .list(Choice<VideoCodec>.values))
    var video: Choice<VideoCodec>?

    @Option(
        help: ArgumentHelp(
            """
            Audio codec: \(AudioCodec.names), copy (record encoded audio unchanged) or none. Default: copy \
            encoded audio, encode raw audio.
            """,
            valueName: "codec"),
        completion: .list(Choice<AudioCodec>.values))
    var audio: Choice<AudioCodec>?

    @Option(help: "Container of a recording on standard output.")
    var container = StreamedContainer.mkv

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
            """
            Video bit rate in bits/s (e.g. 800k, 4M); not for mjpeg and ffv1. Default: constant quality, or \
            0.1 bits per pixel for vp8, vp9 and av1.
            """,
            valueName: "bits/s"))
    var bitrate: SizeArgument?

    @Option(
        help: ArgumentHelp(
            """
            What the pictures lose: low, medium, high or lossless; not with --bitrate. Default: high for h264, h265 \
            and mjpeg.
            """,
            valueName: "quality"))
    var quality: QualityArgument?

    @Option(help: EncoderArgument.help)
    var encoder: EncoderArgument?

    @Option(
        help: ArgumentHelp(
            "Audio bit rate in bits/s (e.g. 128k); not for flac and .wav. Default: 64k per channel.",
            valueName: "bits/s"))
    var audioBitrate: SizeArgument?

    @OptionGroup var segments: SegmentOptions

    @Flag(help: "Dates in the path and --align in UTC. Default: local time.")
    var utc = false

    @Option(
        help: ArgumentHelp(
            """
            End the recording when the disk has less than <bytes> free (e.g. 100M), besides room for the \
            file's index; 0: only when it is full. With --keep…, older segments are deleted first. Default: 4M.
            """,
            valueName: "bytes"))
    var reserve: SizeArgument?

    @Option(
        help: ArgumentHelp(
            """
            Append a line of JSON to this file for each frame, gap, drop and mark, with its capture time \
            (e.g. cam.jsonl).
            """,
            valueName: "file"),
        completion: .file())
    var timestamps: String?

    @Option(
        help: ArgumentHelp(
            """
            Keep the last <duration> in memory (e.g. 30s), and save it from the key frame before it on SIGUSR1 \
            or Enter.
            """,
            valueName: "duration"))
    var replay: DurationArgument?

    @Flag(help: "Record nothing until the request 'start'.")
    var idle = false

    @Flag(help: "Keep the fragments of a finished mp4. Default: one index, as editors expect.")
    var fragmented = false

    @Flag(
        help: """
            Flush the recording to the disk four times a second. Default: the kernel decides when data \
            reaches the disk.
            """)
    var durable = false

    @Flag(help: "Overwrite an existing file. Default: fail if the file exists.")
    var overwrite = false

    @OptionGroup var events: EventOptions

    @OptionGroup var options: BridgeOptions

    func validate() throws {
        if overwrite, replay != nil || segments.isLimited {
            throw ValidationError(
                "--overwrite cannot be combined with --segment, --segment-size or --replay: "
                    + "numbered files never overwrite others")
        }
        if replay != nil, segments.isLimited {
            throw ValidationError("--segment and --segment-size cannot be combined with --replay")
        }
        guard paths.count == 1 || paths.count == 2 else {
            throw ValidationError("Give one recording, after at most one pipeline file")
        }
        if paths.count == 2, (try? RecordingContainer(path: paths[0])) != nil {
            throw ValidationError("Give one recording, not \(paths[0]) and \(paths[1])")
        }
        try options.check(hasFile: paths.count == 2)
        if !isToStandardOutput, container != .mkv {
            throw ValidationError(
                "--container requires -: the file extension selects the container")
        }
        if isToStandardOutput {
            guard !segments.isLimited, replay == nil, options.untrusted == nil else {
                throw ValidationError(
                    "A recording on standard output cannot be combined with --segment, "
                        + "--segment-size, --replay or --untrusted")
            }
            guard options.report != .json else {
                throw ValidationError(
                    "--report json and the recording cannot both use standard output")
            }
            guard isatty(STDOUT_FILENO) == 0 else {
                throw ValidationError("Standard output is a terminal: redirect it, or name a file")
            }
        }
        for (name, rate) in [("--bitrate", bitrate), ("--audio-bitrate", audioBitrate)]
        where rate?.value == 0 {
            throw ValidationError("\(name) must be 1 or more")
        }
        for (option, isGiven, isEncoded) in [
            ("--bitrate", bitrate != nil, video?.isEncoded),
            ("--size", size != nil, video?.isEncoded),
            ("--encoder", encoder != nil, video?.isEncoded),
            ("--quality", quality != nil, video?.isEncoded),
            ("--audio-bitrate", audioBitrate != nil, audio?.isEncoded),
        ] where isGiven && isEncoded == false {
            throw ValidationError("\(option) requires an encoder: not copy, not none")
        }
        if segments.hasRing, !segments.isLimited, !events.isGiven {
            throw ValidationError(
                "--keep, --keep-size, --keep-age and --keep-free require --segment, "
                    + "--segment-size or --when")
        }
        if idle, options.control == nil, isatty(STDIN_FILENO) == 0 {
            throw ValidationError("--idle requires --control, which takes the request 'start'")
        }
        if events.isGiven, overwrite || replay != nil || isToStandardOutput {
            throw ValidationError(
                "--when cannot be combined with --overwrite, --replay or standard output: each event has "
                    + "another file")
        }
        if events.onEvent != nil, options.untrusted != nil {
            throw ValidationError("--on-event cannot be combined with --untrusted")
        }
        if utc, !segments.align, !isDated {
            throw ValidationError("--utc requires --align, or a date in the path (e.g. %Y%m%d)")
        }
        if sequence != nil {
            let others = [
                ("--segment", segments.isLimited), ("--align", segments.align), ("--utc", utc),
                ("--replay", replay != nil), ("--idle", idle), ("--fragmented", fragmented),
                ("--durable", durable), ("--when", events.isGiven), ("--video", video != nil),
                ("--audio", audio != nil), ("--bitrate", bitrate != nil), ("--size", size != nil),
                ("--encoder", encoder != nil), ("--timestamps", timestamps != nil),
            ].filter(\.1).map(\.0)
            guard others.isEmpty else {
                throw ValidationError(
                    "Numbered pictures cannot be combined with \(others.joined(separator: ", "))")
            }
        }
        if overwrite, isDated {
            throw ValidationError(
                "--overwrite cannot be combined with dates: dated files never overwrite others")
        }
    }

    /// Whether the recording is written to standard output.
    private var isToStandardOutput: Bool { paths.last == "-" }

    private var isDated: Bool { sequence == nil && paths.last?.contains("%") == true }

    private var sequence: PictureSequence? { paths.last.flatMap { PictureSequence(path: $0) } }

    func run() async throws {
        let configuration = self.configuration
        let path = isToStandardOutput ? "/dev/stdout" : paths[paths.count - 1]
        try FileSize.requireUsableName(path)
        try sequence?.check(overwrites: overwrite)
        let requests = await RecordingRequests(savesReplays: replay != nil)
        var actions: EventActions?
        var running: Bridge?
        try await options.run(
            file: paths.count == 2 ? paths[0] : nil, requests: requests,
            defaultCapture: {
                guard RecordingContainer.isOfSound(path: path) else {
                    return try DefaultCapture.announced()
                }
                Terminal.log("capturing the microphone")
                return try DefaultAudio.microphone()
            }
        ) { plan in
            for path in [path, timestamps].compactMap(\.self) {
                try plan.untrusted?.check(path: path)
            }
            if !plan.outputs.isEmpty {
                let names = plan.outputs.map(\.name).joined(separator: ", ")
                Terminal.log("outputs besides the recording: \(names)")
            }
            if let sequence {
                let text = try sequence.output(quality?.value)
                plan.outputs.append(BridgePlan.Named(name: "recording", text: text))
                return
            }
            plan.recordings = [BridgePlan.Recording(path: path, configuration: configuration)]
            plan.recordings[0].startsWithBridge = replay == nil && !idle
            events.apply(to: &plan)
            actions = events.actions(of: plan)
        } onStart: { bridge, control in
            running = bridge
            guard let recorder = bridge.recorders.first else { return }
            requests.begin(control, isIdle: replay != nil || idle)
            actions?.begin(recorder)
            let events = recorder.events
            Task { for await event in events { RecordingNews.notify(event) } }
        } onEnd: {
            if let sequence {
                let count = running?.statistics.outputs["recording"]?.frames ?? 0
                let (isComplete, news) = sequence.result(count)
                news.forEach { Terminal.log($0) }
                return isComplete
            }
            return await actions?.end() ?? true
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
        if let encoder { configuration.video?.encoder = encoder.choice }
        configuration.video?.quality = quality?.value
        configuration.segments = segments.segments
        configuration.isDated = isDated
        configuration.isUTC = utc
        if isToStandardOutput {
            configuration.container = container == .ts ? .ts : .mkv
        }
        configuration.isFragmented = fragmented
        configuration.isDurable = durable
        configuration.frameLog = timestamps
        configuration.replay = replay?.value
        configuration.whenExists =
            replay != nil || events.isGiven
            ? .number : overwrite || isToStandardOutput ? .overwrite : .fail
        if let reserve { configuration.reserve = reserve.value }
        return configuration
    }
}
