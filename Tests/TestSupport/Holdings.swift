public import Testing

/// What a probe that ran under GStreamer's `leaks` tracer has left, and what it said of its process.
public enum Holdings {
    /// The environment that makes GStreamer tell what is left.
    public static let tracing = [
        "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
    ]

    /// Expects that nothing critical was logged, and that no object is left.
    public static func checkObjects(
        _ result: ChildProcess.Result, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // GStreamer 1.22's thread for RTCP is overtaken by a new source in one of a thousand sessions, and goes on
        // with the next report.
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

    /// Expects that nothing critical was told, that no object is left, and that the lines `early` and `late`, each of
    /// names and numbers, tell of as many descriptors and threads, and of about as much memory.
    ///
    /// - Parameter heap: The kilobytes that the heap may grow until it levels off. Default 5 MB.
    public static func check(
        _ result: ChildProcess.Result, heap: Int = 5000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        checkObjects(result, sourceLocation: sourceLocation)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ") }
        let early = try #require(
            lines.first { $0.first == "early" }, sourceLocation: sourceLocation)
        let late = try #require(lines.first { $0.first == "late" }, sourceLocation: sourceLocation)
        // Of a thread pool some come and go, on a busy machine more of them; twenty-five that each left one would be
        // beyond.
        let most: [Substring: Int] = ["descriptors": 8, "threads": 16, "heap": heap]
        for place in stride(from: 2, to: min(early.count, late.count), by: 2) {
            guard let more = most[late[place - 1]] else { continue }
            let (before, after) = (Int(early[place]) ?? 0, Int(late[place]) ?? .max)
            #expect(
                after <= before + more, "\(early) \(late)", sourceLocation: sourceLocation)
        }
    }
}
