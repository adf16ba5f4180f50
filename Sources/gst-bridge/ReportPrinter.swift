import ArgumentParser
import Foundation
import MediaBridge

enum ReportMode: String, ExpressibleByArgument, CaseIterable {
    case text, json, none
}

/// The report at the end, on standard output.
struct ReportPrinter {
    let mode: ReportMode

    func print(_ report: BridgeReport) {
        switch mode {
        case .none: break
        case .text: Swift.print(text(report))
        case .json:
            if let data = try? Self.encoder.encode(JSON(report)) {
                Swift.print(String(decoding: data, as: UTF8.self))
            }
        }
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private func text(_ report: BridgeReport) -> String {
        func lines(_ title: String, _ all: [String: BridgeReport.Counts]) -> [String] {
            all.sorted { $0.key < $1.key }.map { name, counts in
                "\(title) \(name): \(counts.frames) frames, \(counts.dropped.total) dropped"
                    + (counts.dropped.total > 0 ? " (\(counts.dropped))" : "")
                    + (counts.bytes.map { ", \(Text.bytes($0))" } ?? "")
            }
        }
        let end =
            "\(Text.decimal(report.seconds, 2)) s, ended by \(report.ended?.rawValue ?? "nothing")"
        return (lines("capture", report.captures) + lines("output", report.outputs) + [end])
            .joined(separator: "\n")
    }

    /// The shape that the command promises to scripts.
    private struct JSON: Encodable {
        struct Counts: Encodable {
            let frames: Int
            let dropped: Int
            let bytes: Int?

            init(_ counts: BridgeReport.Counts) {
                frames = counts.frames
                dropped = counts.dropped.total
                bytes = counts.bytes
            }
        }
        let captures: [String: Counts]
        let outputs: [String: Counts]
        let seconds: Double
        let ended: String

        init(_ report: BridgeReport) {
            captures = report.captures.mapValues { Counts($0) }
            outputs = report.outputs.mapValues { Counts($0) }
            seconds = (report.seconds * 1000).rounded() / 1000
            ended = report.ended?.rawValue ?? "error"
        }
    }
}

extension BridgeReport {
    /// Of a bridge that could not be made.
    static func nothing(because error: any Error) -> BridgeReport {
        BridgeReport(
            captures: [:], outputs: [:], seconds: 0, ended: .error,
            failures: (error as? PipelineError).map { [$0] } ?? [])
    }
}
