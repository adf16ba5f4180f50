import Foundation

/// Contestants that do the same work. They run in turn, A B C, C B A, …, after one discarded round, so that a
/// machine that slows down affects all of them.
struct Comparison {
    let name: String
    let title: String
    /// Pieces of work in a run.
    let pieces: Int
    /// The description of a piece.
    let piece: String
    let figures: [Figure]
    /// The index of the reference contestant, which every machine has; `nil` if the contestants do different
    /// work, and have only limits.
    var floor: Int? { isPaced ? nil : 1 }
    /// Whether each run lasts as long as its media: then there is a single round, without a discarded one
    /// before it.
    var isPaced = false
    /// Makes the contestants for a number of pieces.
    let contestants: (Int) -> [Contestant]
    /// Whether to count instructions and allocations, too.
    var isCounted = false
    /// The comparison's position in a growth plot; `nil` for none.
    var growth: Growth?
    /// Creates the contestants' input before the first run.
    var prepare: () throws -> Void = {}

    struct Growth {
        let plot: String
        let count: Int
    }

    init(
        _ name: String, _ title: String, pieces: Int, piece: String = "frame",
        figures: [Figure] = [.cpu, .wall, .peak, .switches], isCounted: Bool = false,
        growth: Growth? = nil, _ contestants: @escaping (Int) -> [Contestant]
    ) {
        self.name = name
        self.title = title
        self.pieces = pieces
        self.piece = piece
        self.figures = figures
        self.isCounted = isCounted
        self.growth = growth
        self.contestants = contestants
    }

    /// Runs all contestants that this machine can run.
    func measure(rounds: Int, in directory: URL) throws -> Result {
        try prepare()
        let rounds = isPaced ? 1...1 : 0...rounds
        var missing: [String] = []
        var present = contestants(pieces).filter { contestant in
            guard let reason = contestant.probe.flatMap(Program.refusal) else { return true }
            missing.append("\(contestant.name): \(reason)")
            return false
        }
        var runs = present.map { _ in [Run]() }
        for round in rounds {
            let order = Array(present.indices)
            for index in round.isMultiple(of: 2) ? order : order.reversed() {
                do {
                    let run = try run(present[index], in: directory)
                    if round > 0 { runs[index].append(run) }
                } catch let failure as Program.Failure where isPaced {
                    // An overloaded machine drops media; the other rows remain valid.
                    missing.append("\(present[index].name): \(failure)")
                }
            }
        }
        if isPaced {
            present = present.indices.filter { !runs[$0].isEmpty }.map { present[$0] }
            runs.removeAll(where: \.isEmpty)
        }
        return Result(comparison: self, contestants: present, missing: missing, runs: runs)
    }

    private func run(_ contestant: Contestant, in directory: URL) throws -> Run {
        let output = directory.appending(path: "output").path
        let errors = isPaced ? directory.appending(path: "errors").path : nil
        do {
            var run = try Program.run(
                contestant.program, contestant.arguments, output: output, errors: errors)
            if figures.contains(where: \.isPrinted) { try Self.read(output, into: &run) }
            return run
        } catch let failure as Program.Failure {
            guard let text = errors.flatMap(Program.lastLine) else { throw failure }
            throw Program.Failure(description: text)
        }
    }

    /// Parses a program's output: times in nanoseconds, one per line, and `load ROLE SHARE`.
    private static func read(_ path: String, into run: inout Run) throws {
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let times = lines.compactMap { Double($0) }.map { $0 / 1e9 }.sorted()
        let loads = lines.map { $0.split(separator: " ") }.filter { $0.first == "load" }
        guard !times.isEmpty || !loads.isEmpty else {
            throw Program.Failure(description: "no figures were printed")
        }
        run.loads = Dictionary(
            uniqueKeysWithValues: loads.map { (String($0[1]), Double($0[2]) ?? .nan) })
        guard !times.isEmpty else { return }
        run.percentiles = [0.5, 0.95, 0.99, 0.999].map { share in
            times[Int((Double(times.count) * share).rounded(.up)) - 1]
        }
    }

    /// The measured values.
    struct Result {
        let comparison: Comparison
        let contestants: [Contestant]
        /// The skipped contestants, each with the reason.
        let missing: [String]
        /// For each contestant, its runs in the order of the rounds.
        let runs: [[Run]]
        /// Counts for each piece, by the contestant's index; empty if nothing was counted.
        var counts: [Int: Counts] = [:]

        func values(_ figure: Figure, of index: Int) -> [Double] {
            let count: Double?
            switch figure {
            case .instructions: count = counts[index]?.instructions
            case .allocations: count = counts[index]?.allocations
            default: return runs[index].map { figure.value(of: $0, pieces: comparison.pieces) }
            }
            return count.map { [$0] } ?? []
        }

        /// Ratios to the floor within each round; none without a floor.
        func ratios(_ figure: Figure, of index: Int) -> [Double] {
            guard let floor = comparison.floor else { return [] }
            return zip(values(figure, of: index), values(figure, of: floor)).map { $0 / $1 }
        }

        /// The limits of measured figures: without `--full` nothing is counted.
        func limits(of index: Int) -> [Limit] {
            contestants[index].limits.filter { !values($0.figure, of: index).isEmpty }
        }

        func holds(_ limit: Limit, of index: Int) -> Bool {
            let value = values(limit.figure, of: index).median
            switch limit.bound {
            case .ratio(let most): return ratios(limit.figure, of: index).median <= most
            case .more(let most):
                guard let floor = comparison.floor else { return false }
                return value <= values(limit.figure, of: floor).median + most
            case .value(let most): return value <= most
            }
        }
    }
}

extension [Double] {
    /// NaN if there is none.
    var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
