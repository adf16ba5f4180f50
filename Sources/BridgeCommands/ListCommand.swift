internal import ArgumentParser
internal import FoundationEssentials
internal import MediaBridge

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List recordings with their times, streams and gaps.",
        discussion: """
            Headers, indexes and the first frames are read; a file that does not state its duration is read to its \
            end. Files that are no recordings are skipped. The times are those of the capture; "~" marks an \
            estimate by the time of the file's last change, for files without a date (.ts). The exit status is 1 \
            if a recording cannot be read.

            Examples:
              gst-bridge list recordings
              gst-bridge list cam-20260131 --json
            """)

    @Argument(help: "Directories and files to list.", completion: .file())
    var paths: [String]

    @Flag(help: "Print times in UTC. Default: local time.")
    var utc = false

    @Flag(help: "Print one JSON object on standard output. Default: text.")
    var json = false

    func run() async throws {
        let paths = paths
        let recordings = try await Interruption.value(of: Task { try await Recordings(of: paths) })
        if json {
            print(try JSONLine.text(of: JSON(recordings)))
        } else {
            let times = RecordingTimes(isUTC: utc)
            for file in recordings.files {
                if let gap = file.gapBefore {
                    print("  gap of \(Text.decimal(MediaTime(gap).seconds, 1)) s")
                }
                print(times.line(of: file).printable)
            }
            if recordings.files.isEmpty { Terminal.log("no recordings") }
        }
        for (path, error) in recordings.damaged {
            Terminal.log(error.message.contains(path) ? "\(error)" : "\(path): \(error)")
        }
        if !recordings.skipped.isEmpty {
            let names = recordings.skipped.prefix(3).joined(separator: ", ")
            let more = recordings.skipped.count > 3 ? " …" : ""
            Terminal.log("skipped, not recordings: \(recordings.skipped.count) (\(names)\(more))")
        }
        if !recordings.damaged.isEmpty { throw ExitCode(1) }
    }

    /// The JSON format that scripts can rely on.
    private struct JSON: Encodable {
        struct Damaged: Encodable {
            let file: String
            let error: String
        }
        let files: [RecordingJSON]
        let damaged: [Damaged]
        let skipped: [String]

        init(_ recordings: Recordings) {
            files = recordings.files.map { RecordingJSON($0) }
            damaged = recordings.damaged.map { Damaged(file: $0.path, error: "\($0.error)") }
            skipped = recordings.skipped
        }
    }
}

/// Writes the times of recordings.
struct RecordingTimes {
    let isUTC: Bool

    func text(_ date: Date, day: Bool = true) -> String {
        let clock = WallClock(zone: isUTC ? "UTC" : nil)
        let time = Int64((date.timeIntervalSince1970 * 1000).rounded(.down)) * 1_000_000
        return clock.text(of: time, format: day ? "%Y-%m-%d %H:%M:%S%:z" : "%H:%M:%S") ?? "?"
    }

    /// One line: name, times, streams, and what is special.
    func line(of file: Recordings.File) -> String {
        let seconds = MediaTime(file.duration).seconds
        let state = [.finished, .unknown].contains(file.state) ? "" : ", \(file.state.rawValue)"
        return "\(file.path): \(file.isEstimated ? "~" : "")\(text(file.began)) to "
            + "\(text(file.began + seconds, day: false)), \(Text.decimal(seconds, 2)) s, "
            + file.streams.map { "\($0)" }.joined(separator: ", ") + state
    }
}
