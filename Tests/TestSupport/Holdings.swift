public import Testing

/// The leaks of a probe that ran under GStreamer's `leaks` tracer, and the resources it reported.
public enum Holdings {
    /// The environment that makes GStreamer report leaked objects.
    public static let tracing = [
        "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
    ]

    /// Expects no critical warning in the log, and no leaked object.
    public static func checkObjects(
        _ result: ChildProcess.Result, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // In one of 1000 sessions, a new source changes a hash table while GStreamer 1.22's RTCP
        // thread iterates over it. The thread continues with the next report.
        let critical = result.errors.split(separator: "\n").filter {
            $0.contains("-CRITICAL **") && !$0.contains("'version == hash_table->version' failed")
        }
        #expect(critical.isEmpty, "\(critical.prefix(5))", sourceLocation: sourceLocation)
        // GStreamer keeps the certificate of the process for its next connection.
        let left = result.errors.split(separator: "\n").filter {
            $0.contains(" object-alive,") && !$0.contains("new format string")
                && !$0.contains("GstDtlsAgent")
        }
        #expect(
            left.isEmpty, "\(left.prefix(5).joined(separator: "\n"))",
            sourceLocation: sourceLocation)
    }

    /// Expects no critical warning and no leaked object. The lines `early` and `late` each consist
    /// of names and numbers: they must report as many descriptors and threads, and about as much
    /// memory.
    ///
    /// - Parameter heap: How much the heap may grow until it levels off, in kilobytes. Default 5
    ///   MB.
    public static func check(
        _ result: ChildProcess.Result, heap: Int = 5000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        checkObjects(result, sourceLocation: sourceLocation)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ") }
        let early = try #require(
            lines.first { $0.first == "early" }, sourceLocation: sourceLocation)
        let late = try #require(lines.first { $0.first == "late" }, sourceLocation: sourceLocation)
        // The threads of a thread pool come and go, more of them on a busy machine. Twenty-five
        // leaks would exceed these limits.
        let most: [Substring: Int] = ["descriptors": 8, "threads": 16, "heap": heap]
        for place in stride(from: 2, to: min(early.count, late.count), by: 2) {
            guard let more = most[late[place - 1]] else { continue }
            let (before, after) = (Int(early[place]) ?? 0, Int(late[place]) ?? .max)
            #expect(
                after <= before + more, "\(early) \(late)", sourceLocation: sourceLocation)
        }
    }
}
