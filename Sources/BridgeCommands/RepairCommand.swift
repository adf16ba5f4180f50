internal import ArgumentParser
internal import MediaBridge

struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Restore the duration and index of an interrupted recording.",
        discussion: """
            The recording can be Matroska, WebM, fragmented MP4 or an MPEG transport stream. Every video frame is \
            kept; the last piece of audio may be lost. Nothing is re-encoded.

            Without <output>, the repaired file replaces the recording after a check that it contains every \
            frame. A recording with damaged parts is not replaced. After an error or Ctrl-C, the recording is \
            unchanged and the exit status is 1. A file that is still being recorded is refused.

            Examples:
              gst-bridge repair killed.mkv
              gst-bridge repair killed.mp4 repaired.mp4
            """)

    @Argument(help: "Recording to repair (e.g. killed.mkv).", completion: .file())
    var recording: String

    @Argument(
        help: """
            New file to write (e.g. repaired.mkv); it must not exist. Default: replace the recording.
            """,
        completion: .file())
    var output: String?

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    func run() async throws {
        let result = try await Interruption.value(
            of: Task { try await Recordings.repair(recording, to: output) })
        switch report {
        case .none: break
        case .text:
            for track in result.tracks {
                let seconds = Text.decimal(MediaTime(track.duration).seconds, 2)
                Terminal.write(
                    "\(track.mediaType): \(track.frames) encoded frames in \(seconds) s\n".printable
                )
            }
            for part in result.damage {
                Terminal.write("damage, whose frames may be lost: \(part)\n".printable)
            }
            Terminal.write(
                "\(result.file.path): \(Text.bytes(result.file.bytes)), complete\n".printable)
        case .json: print(try JSONLine.text(of: JSON(result, of: recording)))
        }
    }

    /// The JSON format that scripts can rely on.
    private struct JSON: Encodable {
        struct Track: Encodable {
            let type: String
            let units: Int
            let seconds: Double
        }
        let container: String
        let input: String
        let output: String
        let bytes: Int
        let seconds: Double
        let tracks: [Track]
        /// Damaged parts of the recording; absent if there are none.
        let damage: [String]?

        init(_ repaired: Recordings.File.Inspection, of recording: String) {
            container = repaired.file.container.rawValue
            (input, output, bytes) = (recording, repaired.file.path, repaired.file.bytes)
            let ends = repaired.tracks.map { $0.begins + $0.duration }
            let first = repaired.tracks.map(\.begins).min() ?? .zero
            seconds = MediaTime((ends.max() ?? first) - first).seconds.inThousandths
            damage = repaired.damage.isEmpty ? nil : repaired.damage
            tracks = repaired.tracks.map {
                Track(
                    type: $0.mediaType, units: $0.frames,
                    seconds: MediaTime($0.duration).seconds.inThousandths)
            }
        }
    }
}
