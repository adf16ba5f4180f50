// Reports as `print` shows them.

extension PipelineVideoSink.Report: CustomStringConvertible {
    /// `90 frames written, dropped: none, 123456 bytes`
    public var description: String {
        describe(frames: "\(written) frames written", dropped, bytes: bytes)
    }
}

extension BridgeReport.Counts: CustomStringConvertible {
    /// `90 frames, dropped: 2 late, 123456 bytes`
    public var description: String { describe(frames: "\(frames) frames", dropped, bytes: bytes) }
}

private func describe(frames: String, _ dropped: DropCounts, bytes: Int?) -> String {
    ([frames, "dropped: \(dropped)"] + (bytes.map { ["\($0) bytes"] } ?? []))
        .joined(separator: ", ")
}

extension BridgeReport: CustomStringConvertible {
    /// One line for each stream and each output, one for the end, one for each failure.
    public var description: String {
        func lines(_ title: String, _ counts: [String: Counts]) -> [String] {
            counts.sorted { $0.key < $1.key }.map { "\(title) \($0.key): \($0.value)" }
        }
        let end = ended.map { "ended by \($0.rawValue)" } ?? "running"
        return
            (lines("capture", captures) + lines("output", outputs)
            + ["\(seconds.inThousandths) s, \(end)"] + failures.map { "failed: \($0)" })
            .joined(separator: "\n")
    }
}

extension RecorderReport.Track: CustomStringConvertible {
    /// `h264 (x264enc): 90 written, dropped: none, 3 repeated`
    public var description: String {
        var parts = ["\(codec) (\(encoder)): \(written) written", "dropped: \(dropped)"]
        if droppedUnits.total > 0 { parts.append("encoded frames dropped: \(droppedUnits)") }
        let word = corrections == nil ? "repeated" : "filled"
        if repeated > 0 { parts.append("\(repeated) \(word)") }
        return parts.joined(separator: ", ")
    }
}

extension RecorderReport.File: CustomStringConvertible {
    /// `out.mkv: 90 frames, 3.0 s, 123456 bytes`
    public var description: String {
        let parts = ["\(frames) frames", "\(duration.seconds.inThousandths) s", "\(bytes) bytes"]
        let damage = failure.map { [", failed: \($0)"] } ?? []
        return "\(path): " + parts.joined(separator: ", ") + damage.joined()
    }
}

extension RecorderReport: CustomStringConvertible {
    /// One line for each file and each stream, and one for the end.
    public var description: String {
        var lines = files.map(\.description)
        if let video { lines.append("video: \(video)") }
        if let audio { lines.append("audio: \(audio)") }
        lines.append(ended.map { "ended by \($0.rawValue)" } ?? "recording")
        if let failure { lines.append("failed: \(failure)") }
        return lines.joined(separator: "\n")
    }
}

extension Double {
    /// The value rounded to three decimals.
    fileprivate var inThousandths: Double { (self * 1000).rounded() / 1000 }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
