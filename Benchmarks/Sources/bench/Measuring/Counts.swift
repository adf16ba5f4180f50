import Foundation

/// What a contestant needs for each piece of work: counted, so that every run gives the same.
struct Counts: Codable {
    /// Instructions, as callgrind counts them; `nil` where valgrind is missing, or
    /// cannot run the program.
    var instructions: Double?
    /// Calls of the allocator.
    var allocations: Double

    /// Counts two runs of different length, and takes the difference: what a start costs falls out.
    static func measure(
        _ contestant: (Int) -> Contestant, in directory: URL
    ) throws -> Counts {
        let (few, many) = (200, 1200)
        func slope(_ count: (Contestant, URL) throws -> Int) throws -> Double {
            let (least, most) = (contestant(few), contestant(many))
            let more = try count(most, directory) - count(least, directory)
            return Double(more) / Double(many - few)
        }
        var counts = Counts(allocations: try slope(allocations))
        if Program.succeeds(["valgrind", "--version"]) {
            counts.instructions = try? slope(instructions)
        }
        return counts
    }

    private static func allocations(_ contestant: Contestant, in directory: URL) throws -> Int {
        let file = directory.appending(path: "allocations").path
        // By env, so that the program alone is counted.
        _ = try Program.run(
            "env",
            [
                "LD_PRELOAD=\(Places.library("AllocationCounter"))",
                "G_SLICE=always-malloc", "ALLOCATION_COUNT_FILE=\(file)", contestant.program,
            ] + contestant.arguments)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        guard let count = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Program.Failure(description: "no count of allocations: \(text)")
        }
        return count
    }

    private static func instructions(_ contestant: Contestant, in directory: URL) throws -> Int {
        let file = directory.appending(path: "callgrind").path
        // Debian's valgrind gives up at the debugging information that Swift writes.
        let program = directory.appending(path: "stripped").path
        _ = try Program.run("strip", ["--strip-debug", "-o", program, contestant.program])
        _ = try Program.run(
            "env",
            [
                "LD_PRELOAD=\(Places.library("CallgrindSupport"))", "valgrind", "--tool=callgrind",
                "--callgrind-out-file=/dev/null", program,
            ] + contestant.arguments, errors: file)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        guard
            let line = text.split(separator: "\n").last(where: { $0.contains("Collected :") }),
            let count = line.split(separator: " ").last.flatMap({ Int($0) })
        else { throw Program.Failure(description: "callgrind counted nothing") }
        return count
    }
}
