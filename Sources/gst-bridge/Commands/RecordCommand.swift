import ArgumentParser
import MediaBridge

struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Records into a file that survives a crash.",
        discussion: """
            gst-bridge record --capture "v4l2src ! videoconvert" out.mkv
            gst-bridge record camera.yaml out.mp4 --segment 10m --keep 6

            The ending chooses the container: .mkv, .mp4, .webm, .ts. Sound is recorded where a capture \
            has a stream of the name audio (appsink name=audio). The outputs of a pipeline file run \
            beside the recording; --capture with the file's capture string records alone. A file that \
            a killed process left plays, and "gst-bridge repair" gives it its duration and index back. \
            With --untrusted DIR the file lies in DIR. With --replay TIME nothing is recorded until SIGUSR1 \
            comes, or Enter in a terminal: then the last TIME is saved, again and again, in a file with a \
            number.
            """)

    @Argument(
        help: ArgumentHelp(
            "A pipeline file, where it is not --capture, and the file to record into.",
            valueName: "[file.yaml] out"),
        completion: .file())
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            "How pictures are encoded, copy, or none: \(VideoCodec.names).", valueName: "codec"))
    var video: Choice<VideoCodec>?

    @Option(
        help: ArgumentHelp(
            "How sound is encoded, copy, or none: \(AudioCodec.names).", valueName: "codec"))
    var audio: Choice<AudioCodec>?

    @Option(
        help: ArgumentHelp(
            "Scale every picture to this size, with borders (e.g. 1280x720). Default: a new file for a new size.",
            valueName: "widthxheight"))
    var size: PictureSize?

    @Option(
        help: ArgumentHelp(
            "Of the pictures: 4M, 800k; by quality where not given.", valueName: "bits/s"))
    var bitrate: SizeArgument?

    @Option(help: ArgumentHelp("Of the sound: 128k.", valueName: "bits/s"))
    var audioBitrate: SizeArgument?

    @Option(help: ArgumentHelp("A new file each time so much is in one.", valueName: "time"))
    var segment: DurationArgument?

    @Option(
        help: ArgumentHelp("A new file before one is larger: 100M, 2G.", valueName: "bytes"))
    var segmentSize: SizeArgument?

    @Option(help: ArgumentHelp("Keeps the newest segments, so many.", valueName: "n"))
    var keep: Int?

    @Option(help: ArgumentHelp("Keeps the newest segments, so large.", valueName: "bytes"))
    var keepSize: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Ends the recording when the disk has no more left: 4M; 0: when it is full.",
            valueName: "bytes"))
    var reserve: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Keeps the last seconds in memory, and saves them at SIGUSR1 or Enter.",
            valueName: "time"))
    var replay: DurationArgument?

    @Flag(help: "Overwrites the file, if there is one.")
    var overwrite = false

    @OptionGroup var options: BridgeOptions

    func validate() throws {
        if overwrite, replay != nil || segment != nil || segmentSize != nil {
            throw ValidationError(
                "--overwrite is for one file: those with numbers never meet an existing one")
        }
        if replay != nil, segment != nil || segmentSize != nil {
            throw ValidationError("--segment and --segment-size do not go with --replay")
        }
        guard paths.count == 1 || paths.count == 2 else {
            throw ValidationError(
                "one file to record into, and a pipeline file in front of it at most")
        }
        if paths.count == 2, (try? RecordingContainer(path: paths[0])) != nil {
            throw ValidationError(
                "one file to record into, not \(paths[0]) and \(paths[1])")
        }
        if paths.count == 1, !options.settings.isEmpty {
            throw ValidationError("--set goes with a pipeline file")
        }
        if options.untrusted != nil, paths.count == 1, options.capture == nil {
            throw ValidationError("--untrusted needs a pipeline file or --capture")
        }
        for (name, size) in [
            ("--bitrate", bitrate), ("--audio-bitrate", audioBitrate), ("--keep-size", keepSize),
            ("--segment-size", segmentSize),
        ] where size?.value == 0 {
            throw ValidationError("\(name) takes a number from 1 on")
        }
        if let keep, keep < 1 { throw ValidationError("--keep takes a number from 1 on") }
        if keep != nil || keepSize != nil, segment == nil, segmentSize == nil {
            throw ValidationError("--keep and --keep-size go with --segment or --segment-size")
        }
    }

    func run() async throws {
        let configuration = self.configuration
        let path = paths[paths.count - 1]
        let saver = replay == nil ? nil : await ReplaySaver(path: path)
        // The signal would end the process.
        let refusal = saver == nil ? await ReplaySaver.refuse() : nil
        defer { refusal?.cancel() }
        try await options.run(file: paths.count == 2 ? paths[0] : nil, replays: saver) { plan in
            try plan.untrusted?.check(path: path)
            if !plan.outputs.isEmpty {
                let names = plan.outputs.map(\.name).joined(separator: ", ")
                Terminal.say("running beside the recording: \(names)")
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
        case .automatic: configuration.video?.bitrate = bitrate?.value
        case .codec(let codec): configuration.video = VideoEncoding(codec, bitrate: bitrate?.value)
        }
        switch audio ?? .automatic {
        case .none: configuration.audio = nil
        case .copy: configuration.audio = .copy
        case .automatic: configuration.audio = AudioEncoding(bitrate: audioBitrate?.value)
        case .codec(let codec):
            configuration.audio = AudioEncoding(codec, bitrate: audioBitrate?.value)
        }
        configuration.video?.size = size?.size
        if segment != nil || segmentSize != nil {
            let isRing = keep != nil || keepSize != nil
            configuration.segments = RecordingSegments(
                length: segment?.value, bytes: segmentSize?.value,
                keep: isRing ? RecordingSegments.Ring(files: keep, bytes: keepSize?.value) : nil)
        }
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
enum Choice<Codec: RawRepresentable<String> & Sendable>: ExpressibleByArgument, Sendable {
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
            guard let codec = Codec(rawValue: name) else { return nil }
            self = .codec(codec)
        }
    }
}

extension CaseIterable where Self: RawRepresentable<String> {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
