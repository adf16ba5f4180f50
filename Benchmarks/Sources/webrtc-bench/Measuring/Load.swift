import Foundation

/// The CPU time of processes over an interval.
struct Load {
    private let programs: [(name: String, pid: Int32, before: Double)]
    private let start = ContinuousClock.now
    /// The start, on the clock of ``Log``.
    let begin = Log.now

    /// Starts the measurement.
    init(_ programs: KeyValuePairs<String, ChildProcess>) throws {
        self.programs = try programs.map { ($0.key, $0.value.pid, try Self.time(of: $0.value.pid)) }
    }

    /// Waits for the given seconds, then prints each program's share of a core.
    ///
    /// - Returns: The end, on the clock of ``Log``.
    func measure(seconds: Int) async throws -> Int64 {
        try await Task.sleep(until: start + .seconds(seconds), clock: .continuous)
        let wall = (ContinuousClock.now - start) / .seconds(1)
        for (name, pid, before) in programs {
            say("load \(name) \((try Self.time(of: pid) - before) / wall)")
        }
        return Log.now
    }

    /// User and system time of a process and all its threads so far, in seconds.
    private static func time(of pid: Int32) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        // The program name, in parentheses, may contain any characters.
        let fields = text[text.lastIndex(of: ")")!...].split(separator: " ")
        return Double(Int(fields[12])! + Int(fields[13])!) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// The send and arrival times of frames.
struct Journey {
    private let sent: [(number: Int, time: Int64)]

    /// - Parameter output: The output of a program's ``Log``.
    init(sent output: String) { sent = Self.lines(output) }

    private static func lines(_ output: String) -> [(number: Int, time: Int64)] {
        output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[0]), let time = Int64(words[1]) else {
                return nil
            }
            return (number, time)
        }
    }

    /// Prints the latency of the frames that were sent in an interval.
    ///
    /// - Throws: If a tenth or more did not arrive, because their latency is unknown.
    func printTimes(arrived output: String, within range: ClosedRange<Int64>) throws {
        try printTimes(arrived: Self.lines(output), within: range)
    }

    func printTimes(
        arrived: [(number: Int, time: Int64)], within range: ClosedRange<Int64>
    ) throws {
        var count = 0
        for (number, time) in arrived {
            // Numbers repeat after eight seconds.
            let picture = sent.last { $0.number == number && $0.time <= time }
            guard let picture, range.contains(picture.time) else { continue }
            say("\(time - picture.time)")
            count += 1
        }
        let all = sent.count { range.contains($0.time) }
        guard count * 10 >= all * 9 else {
            throw ChildProcess.Failure(description: "\(count) of \(all) pictures arrived")
        }
    }
}
