/// The result of a bridge that has ended, or its counts so far.
public struct BridgeReport: Sendable {
    /// Why the bridge ended.
    public enum End: String, Hashable, Sendable {
        /// Every capture came to its end.
        case eos
        /// The frame limit was reached.
        case frames
        /// The duration limit was reached.
        case duration
        /// ``Bridge/stop()`` was called, the task was cancelled, or a stop signal came.
        case interrupt
        /// A capture, a processor or every output failed.
        case error
    }

    /// The counts of the captures' streams, by stream name.
    public var captures: [String: StreamCounts]
    /// The counts of outputs and recordings, by name. ``StreamCounts/frames`` are those of `video` if the
    /// output takes it.
    public var outputs: [String: StreamCounts]
    /// Wall time from the start of the captures to their end, in seconds.
    public var seconds: Double
    /// Why the bridge ended; `nil` while it runs.
    public var ended: End?
    /// The counts of the detectors of the plan, by their names: ``StreamCounts/frames`` are the pictures or
    /// blocks of audio that a detector has looked at, ``DropCause/evicted`` counts those of a live stream
    /// that came while it was busy.
    public var detectors: [String: StreamCounts] = [:]
    /// The newest thousand events of the detectors in the order in which they ended, then the present ones.
    public var events: [DetectedEvent] = []
    /// All failures, in the order in which they occurred. Outputs may have been written even if
    /// there are failures.
    public var failures: [PipelineError]

    /// Creates a report.
    package init(
        captures: [String: StreamCounts], outputs: [String: StreamCounts], seconds: Double,
        ended: End?, failures: [PipelineError]
    ) {
        self.captures = captures
        self.outputs = outputs
        self.seconds = seconds
        self.ended = ended
        self.failures = failures
    }

    /// Returns the report, or throws its first failure.
    ///
    /// - Returns: This report.
    /// - Throws: The first failure, if there is one.
    @discardableResult
    public func get() throws(PipelineError) -> BridgeReport {
        if let failure = failures.first { throw failure }
        return self
    }
}

/// A problem in a ``Bridge`` while it runs.
public enum BridgeEvent: Sendable {
    /// A failure, which is also in the report's ``BridgeReport/failures``. The bridge goes on with
    /// what is left.
    case failed(PipelineError)
    /// An element of a capture or an output posted a warning. The error has the element's path and
    /// GStreamer's message. The bridge goes on. A stream that never comes is reported as
    /// ``failed(_:)``.
    case warned(PipelineError)
    /// A live capture has ended or failed, and is started again after `delay`: see
    /// ``BridgePlan/restart``. `attempt` counts the consecutive attempts from one.
    case restarting(capture: String, attempt: Int, delay: Duration, because: PipelineError)
    /// The device or the server of a capture has not answered yet; it is asked again after `delay`:
    /// see ``BridgePlan/restart``.
    case waiting(capture: String, delay: Duration, because: PipelineError)
    /// A live capture delivers again, or for the first time, after it was restarted or waited for.
    /// `after` is the time without data.
    case resumed(capture: String, after: Duration)
    /// No data has moved for five seconds, in the whole bridge or in one output. The error gives
    /// the reason if it is known. Reported once per stall; the bridge goes on, and the stream may
    /// recover.
    case stalled(PipelineError)
    /// A detector found its state, or finds it no longer: then ``DetectedEvent/ended`` is set.
    case detected(DetectedEvent)
}

// Reports as `print` shows them.

extension BridgeReport: CustomStringConvertible {
    /// One line for each stream and each output, one for the end, one for each failure.
    public var description: String {
        func lines(_ title: String, _ counts: [String: StreamCounts]) -> [String] {
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
        if droppedEncodedFrames.total > 0 {
            parts.append("encoded frames dropped: \(droppedEncodedFrames)")
        }
        let word = corrections == nil ? "repeated" : "filled"
        if repeated > 0 { parts.append("\(repeated) \(word)") }
        return parts.joined(separator: ", ")
    }
}

extension RecordedFile: CustomStringConvertible {
    /// `out.mkv: 90 frames, 3.0 s, 123456 bytes`
    public var description: String {
        let seconds = MediaTime(duration).seconds.inThousandths
        let parts = ["\(frames) frames", "\(seconds) s", "\(bytes) bytes"]
        let damage = failure.map { [", failed: \($0)"] } ?? []
        return "\(path): " + parts.joined(separator: ", ") + damage.joined()
    }
}

extension RecorderReport: CustomStringConvertible {
    /// One line for each file and each stream, and one for the end.
    public var description: String {
        var lines = files.map(\.description)
        lines += tracks.map { "\($0.stream): \($0)" }
        lines.append(ended.map { "ended by \($0.rawValue)" } ?? "recording")
        if let failure { lines.append("failed: \(failure)") }
        return lines.joined(separator: "\n")
    }
}
