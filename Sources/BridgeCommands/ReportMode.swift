package import ArgumentParser
package import MediaBridge

/// How the final report is printed: text on standard error, JSON on standard output.
package enum ReportMode: String, ExpressibleByArgument, CaseIterable {
    case text, json, none

    package static let help: ArgumentHelp =
        "Final report: text on standard error, or json on the last line of standard output."

    /// Prints a report.
    ///
    /// - Parameters:
    ///   - files: The files of recordings that are not in `recorders`; `nil` if nothing is recorded.
    ///   - replays: The files of replays; `nil` if none could be saved.
    package func print(
        _ report: BridgeReport, recorders: [Recorder] = [], files: [RecordedFile]? = nil,
        replays: [RecordedFile]? = nil
    ) {
        let recordings = recorders.map(\.report)
        switch self {
        case .none: break
        case .text:
            let all = recordings.flatMap(lines) + (files ?? []).map { line($0) } + [text(report)]
            Terminal.write(all.joined(separator: "\n").printable + "\n")
        case .json:
            guard let line = try? JSONLine.text(of: JSON(report, recordings, files, replays)) else {
                return
            }
            Swift.print(line)
        }
    }

    /// Returns one line for each file of a recording, with its encoders.
    private func lines(_ recording: RecorderReport) -> [String] {
        let written = recording.tracks.filter { $0.written > 0 }
        let tracks = written.isEmpty ? recording.tracks : written
        let how = tracks.map {
            $0.encoder == "copy"
                ? "\($0.codec) copied"
                : "\($0.codec) by \($0.encoder)" + ($0.converted.map { " (\($0))" } ?? "")
        }.joined(separator: ", ")
        let missing = recording.missingLogLines
        return recording.files.map {
            line($0, hasVideo: recording.video != nil) + (how.isEmpty ? "" : ", \(how)")
        } + (missing > 0 ? ["timestamps: \(missing) lines are missing"] : [])
    }

    private func line(_ file: RecordedFile, hasVideo: Bool = true) -> String {
        let seconds = Text.decimal(MediaTime(file.duration).seconds, 2)
        let pictures = hasVideo ? "\(file.frames) frames, " : ""
        return "\(file.path): \(pictures)\(seconds) s, \(Text.bytes(file.bytes))"
    }

    private func text(_ report: BridgeReport) -> String {
        func lines(_ title: String, _ all: [String: StreamCounts]) -> [String] {
            all.sorted { $0.key < $1.key }.map { name, counts in
                "\(title) \(name): \(counts.frames) frames, \(counts.dropped.total) dropped"
                    + (counts.dropped.total > 0 ? " (\(counts.dropped))" : "")
                    + (counts.bytes.map { ", \(Text.bytes($0))" } ?? "")
                    + outages(counts) + (counts.packets.map(text) ?? "")
            }
        }
        let end =
            "\(Text.decimal(report.seconds, 2)) s, ended by \(report.ended?.rawValue ?? "nothing")"
        let detectors = report.detectors.sorted { $0.key < $1.key }.map { name, detector in
            "detector \(name): \(detector.events) events in \(detector.frames) looks, "
                + "\(detector.dropped.total) dropped"
        }
        return
            (lines("capture", report.captures) + lines("output", report.outputs) + detectors
            + [end])
            .joined(separator: "\n")
    }

    private func text(_ packets: PacketCounts) -> String {
        guard packets.lost > 0 else { return "" }
        return ", packets lost in the network: \(packets.lost) of \(packets.packets + packets.lost)"
    }

    private func outages(_ counts: StreamCounts) -> String {
        guard let outages = counts.outages, outages > 0 else { return "" }
        let seconds = Text.decimal(MediaTime(counts.outageDuration).seconds, 1)
        return ", outages: \(outages) (\(seconds) s), restarts: \(counts.restarts)"
    }

    /// The JSON format that scripts can rely on.
    private struct JSON: Encodable {
        struct Counts: Encodable {
            let frames: Int
            let dropped: Int
            let bytes: Int?
            /// Why it failed.
            let error: String?
            /// With --restart: the number of outages and their seconds in total, and how often the
            /// stream delivered again.
            let outages: Int?
            let outageSeconds: Double?
            let restarts: Int?
            /// Of WHIP, WHEP and channels: the packets of all streams that were sent or have arrived, and
            /// the packets that the network lost.
            let packets: Int?
            let lostPackets: Int?

            init(_ counts: StreamCounts) {
                frames = counts.frames
                dropped = counts.dropped.total
                bytes = counts.bytes
                error = counts.failure.map { "\($0)" }
                outages = counts.outages
                let isRestarted = counts.outages != nil
                outageSeconds =
                    isRestarted ? MediaTime(counts.outageDuration).seconds.inThousandths : nil
                restarts = isRestarted ? counts.restarts : nil
                packets = counts.packets?.packets
                lostPackets = counts.packets?.lost
            }
        }
        /// What a detector has looked at.
        struct Detector: Encodable {
            /// The numbers of pictures or blocks of audio.
            let looks, dropped: Int
            /// The number of events that began.
            let events: Int
            /// Why it was given up.
            let error: String?

            init(_ counts: StreamCounts) {
                (looks, dropped) = (counts.frames, counts.dropped.total)
                (events, error) = (counts.events, counts.failure.map { "\($0)" })
            }
        }
        let captures: [String: Counts]
        let outputs: [String: Counts]
        /// Absent without detectors.
        let detectors: [String: Detector]?
        let events: [EventJSON]?
        let seconds: Double
        let ended: String
        /// All failures, in the order in which they occurred.
        let errors: [String]?
        let files: [ReportedFile]?
        /// Number of files that --keep and its relatives removed.
        let removed: Int?
        let replays: [ReportedFile]?
        /// Number of lines that the file of --timestamps lacks; absent if it lacks none.
        let timestampsMissing: Int?
        /// The name of the encoder of each stream.
        let encoders: [String: String]?
        /// The pixel format that the video encoder does not keep, and its replacement: `YUY2 as
        /// I420`.
        let converted: String?
        /// What the audio encoder changes: `192000 Hz as 96000 Hz`.
        let convertedAudio: String?

        init(
            _ report: BridgeReport, _ recordings: [RecorderReport],
            _ files: [RecordedFile]?, _ replays: [RecordedFile]?
        ) {
            let all = recordings.isEmpty ? files : recordings.flatMap(\.files)
            self.files = all?.map { ReportedFile($0) }
            removed = recordings.isEmpty ? nil : recordings.reduce(0) { $0 + $1.removedFiles }
            let missing = recordings.reduce(0) { $0 + $1.missingLogLines }
            timestampsMissing = missing > 0 ? missing : nil
            self.replays = replays?.map { ReportedFile($0) }
            encoders = recordings.first.map { recording in
                Dictionary(
                    uniqueKeysWithValues: recording.tracks.filter { $0.written > 0 }
                        .map { ($0.stream, $0.encoder) })
            }
            converted = recordings.first?.video?.converted
            convertedAudio = recordings.first?.audio?.converted
            let hasDetectors = !report.detectors.isEmpty
            detectors = hasDetectors ? report.detectors.mapValues { Detector($0) } : nil
            events = hasDetectors ? report.events.map { EventJSON($0) } : nil
            captures = report.captures.mapValues { Counts($0) }
            outputs = report.outputs.mapValues { Counts($0) }
            seconds = report.seconds.inThousandths
            ended = report.ended?.rawValue ?? "error"
            errors = report.failures.isEmpty ? nil : report.failures.map { "\($0)" }
        }
    }
}

extension BridgeReport {
    /// The streams without any frame when a limit or a signal ended the run.
    var streamsWithoutFrames: [String] {
        guard [.frames, .duration, .interrupt].contains(ended) else { return [] }
        return captures.filter { $0.value.frames == 0 && $0.value.dropped.total == 0 }.keys.sorted()
    }

    /// Returns the report for a bridge that could not be created.
    static func nothing(because error: any Error) -> BridgeReport {
        BridgeReport(
            captures: [:], outputs: [:], seconds: 0, ended: .error,
            failures: (error as? PipelineError).map { [$0] } ?? [])
    }
}
