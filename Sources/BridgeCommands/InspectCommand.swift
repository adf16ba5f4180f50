internal import ArgumentParser
internal import MediaBridge

struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Report what a recording contains, and its damage.",
        discussion: """
            Reports streams, key frames, gaps, damage, and what a repair would gain. Nothing is decoded: damage \
            within an encoded frame is not found. The exit status is 1 for a damaged file; damage of .ogg, .flac \
            and .wav is not found.

            Examples:
              gst-bridge inspect killed.mkv
              gst-bridge inspect cam-00012.mp4 --json
            """)

    @Argument(help: "Recording to read (e.g. killed.mkv).", completion: .file())
    var recording: String

    @Flag(help: "Print times in UTC. Default: local time.")
    var utc = false

    @Flag(help: "Print one JSON object on standard output. Default: text.")
    var json = false

    func run() async throws {
        let path = recording
        let reading = Task { try await Recordings.file(at: path).inspect() }
        let inspection = try await Interruption.value(of: reading)
        if json {
            print(try JSONLine.text(of: JSON(inspection)))
        } else {
            print(RecordingTimes(isUTC: utc).line(of: inspection.file).printable)
            for line in inspection.tracks.flatMap(lines) { print("  " + line.printable) }
            for damage in inspection.damage { print("  damage: " + damage.printable) }
            if let gain = inspection.gain { print("  a repair would restore \(gain)".printable) }
        }
        if !inspection.damage.isEmpty { throw ExitCode(1) }
    }

    private func lines(_ track: Recordings.File.Inspection.Track) -> [String] {
        let (begins, length) = (MediaTime(track.begins).seconds, MediaTime(track.duration).seconds)
        var line = "\(track.stream): \(track.frames) encoded frames"
        if length > 0 {
            line +=
                ", \(Text.decimal(Double(track.bytes) / 125 / length, 0)) kbit/s, "
                + "from \(Text.decimal(begins, 2)) to \(Text.decimal(begins + length, 2)) s"
        }
        if track.stream.kind == "video", let longest = track.longestKeyFrameDistance {
            let mean = length / Double(track.keyFrames)
            line +=
                ", a key frame each \(Text.decimal(mean, 2)) s, at most "
                + "\(Text.decimal(MediaTime(longest).seconds, 2)) s"
        }
        let gaps = track.gaps.prefix(10).map {
            "gap of \(Text.decimal(MediaTime($0.upperBound - $0.lowerBound).seconds, 2)) s in the \(track.stream.kind) at "
                + "\(Text.decimal(MediaTime($0.lowerBound).seconds, 2)) s"
        }
        let more = track.gaps.count - gaps.count
        return [line] + gaps + (more > 0 ? ["\(more) more gaps in the \(track.stream.kind)"] : [])
    }

    /// The JSON format that scripts can rely on.
    private struct JSON: Encodable {
        struct Track: Encodable {
            let kind, codec: String
            let frames, bytes, keyFrames: Int
            /// In seconds.
            let begins, seconds: Double
            let longestKeyFrameDistance: Double?
            let gaps: [Gap]
        }
        struct Gap: Encodable {
            let at, seconds: Double
        }
        let recording: RecordingJSON
        let tracks: [Track]
        let damage: [String]
        /// What a repair would restore; null: nothing.
        let repair: String?

        init(_ inspection: Recordings.File.Inspection) {
            recording = RecordingJSON(inspection.file)
            tracks = inspection.tracks.map { track in
                Track(
                    kind: track.stream.kind, codec: track.stream.codec, frames: track.frames,
                    bytes: track.bytes, keyFrames: track.keyFrames,
                    begins: seconds(track.begins), seconds: seconds(track.duration),
                    longestKeyFrameDistance: track.longestKeyFrameDistance.map(seconds),
                    gaps: track.gaps.map {
                        Gap(
                            at: seconds($0.lowerBound),
                            seconds: seconds($0.upperBound - $0.lowerBound))
                    })
            }
            (damage, repair) = (inspection.damage, inspection.gain)
        }
    }
}

private func seconds(_ duration: Duration) -> Double {
    MediaTime(duration).seconds.inThousandths
}
