import Foundation

/// The threads of the process: worker threads of Dispatch and of this package, and all others.
///
/// The number of workers means little. On a loaded machine the pool grows by a dozen threads at a time, up to
/// the peak of parallel work, and all stay while there is work for one of them. A permanently blocked worker,
/// however, never runs again, whereas an idle one exits after five seconds.
struct SoakThreads {
    /// All threads that are not workers.
    private(set) var others = 0
    /// Workers that have not run for ten seconds.
    private(set) var blocked = 0

    private struct Worker {
        var switches: Substring
        var since: ContinuousClock.Instant
    }
    private var workers: [String: Worker] = [:]

    /// Samples all threads.
    mutating func look() {
        let now = ContinuousClock.now
        var seen: [String: Worker] = [:]
        others = 0
        let tasks = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        for task in tasks ?? [] {
            let status = Self.status(of: task)
            // The suffix of com.apple.root.default-qos and com.apple.root.default-qos.overcommit.
            let name = status["Name:"] ?? ""
            guard name.contains("-qos") || name == "mediabridge" else {
                others += 1
                continue
            }
            let switches = status["voluntary_ctxt_switches:"] ?? ""
            if let known = workers[task], known.switches == switches {
                seen[task] = known
            } else {
                seen[task] = Worker(switches: switches, since: now)
            }
        }
        workers = seen
        blocked = seen.values.filter { now - $0.since > .seconds(10) }.count
    }

    /// The fields of /proc/self/task/TASK/status, or of /proc/self/status.
    static func status(of task: String? = nil) -> [Substring: Substring] {
        let path = task.map { "/proc/self/task/\($0)/status" } ?? "/proc/self/status"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").reduce(into: [:]) { fields, line in
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count > 1 { fields[words[0]] = words[1] }
        }
    }
}
