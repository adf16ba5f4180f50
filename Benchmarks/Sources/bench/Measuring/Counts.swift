import Foundation

/// The cost of each piece of work as a count, which is the same in every run.
struct Counts: Codable {
    /// Instructions, as callgrind counts them; `nil` if valgrind is missing or cannot run the
    /// program.
    var instructions: Double?
    /// Calls to the allocator.
    var allocations: Double

    /// Subtracts the counts of a short run from those of a long one, which cancels the cost of
    /// starting.
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
        // The count starts in the program: env sets LD_PRELOAD only for it.
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
        // Debian's valgrind cannot read the debug information that Swift writes.
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
