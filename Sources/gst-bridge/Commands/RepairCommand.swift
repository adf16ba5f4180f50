import ArgumentParser
import Foundation
import MediaBridge

struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Gives a recording whose process was killed its duration and index.",
        discussion: """
            gst-bridge repair killed.mkv
            gst-bridge repair killed.mp4 whole.mp4

            Matroska, WebM, MPEG-4 in fragments, and MPEG transport streams. Every frame is kept, and none \
            is encoded anew. Without a second file the recording is replaced, once the new one has been \
            read and found to hold as much; whatever goes wrong, it is as it was.
            """)

    @Argument(help: "The recording.", completion: .file())
    var recording: String

    @Argument(help: "Where the new one goes, in place of the recording.", completion: .file())
    var output: String?

    @Option(help: ReportMode.help)
    var report = ReportMode.text

    func run() async throws {
        let repair = RecordingRepair(recording, to: output)
        let work = Task { try await repair.run() }
        let result = try await Interruption.during {
            work.cancel()
        } _: {
            try await work.value
        }
        switch report {
        case .none: break
        case .text:
            for track in result.tracks {
                let seconds = Text.decimal(track.seconds, 2)
                Terminal.write(
                    "\(track.mediaType): \(track.units) units in \(seconds) s\n".printable)
            }
            Terminal.write("\(result.output): \(Text.bytes(result.bytes)), complete\n".printable)
        case .json: print(try ReportPrinter.line(of: JSON(result)))
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

        init(_ report: RecordingRepair.Report) {
            func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
            container = report.container.rawValue
            (input, output, bytes) = (report.input, report.output, report.bytes)
            seconds = rounded(report.seconds)
            tracks = report.tracks.map {
                Track(type: $0.mediaType, units: $0.units, seconds: rounded($0.seconds))
            }
        }
    }
}
