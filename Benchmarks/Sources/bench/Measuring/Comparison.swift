import Foundation

/// Contestants that do the same work. They run in turn, A B C, C B A, …, after a round that does not
/// count, so that a machine that gets slower gets slower for all of them.
struct Comparison {
    let name: String
    let title: String
    /// Pieces of work in a run.
    let pieces: Int
    /// What a piece is.
    let piece: String
    let figures: [Figure]
    /// The place of the contestant that the others are compared with, which every machine has.
    let floor = 1
    /// Makes the contestants for a number of pieces.
    let contestants: (Int) -> [Contestant]
    /// Whether instructions and allocations are counted, too.
    var isCounted = false
    /// The comparison's place in a plot of growth; `nil` for none.
    var growth: Growth?
    /// Makes what the contestants read, before the first runs.
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
        let present = contestants(pieces).filter { $0.probe.map(Program.succeeds) ?? true }
        var runs = present.map { _ in [Run]() }
        let output = directory.appending(path: "output").path
        for round in 0...rounds {
            let order = Array(present.indices)
            for index in round.isMultiple(of: 2) ? order : order.reversed() {
                let contestant = present[index]
                var run = try Program.run(
                    contestant.program, contestant.arguments, output: output)
                if figures.contains(.p50) { run.percentiles = try Self.percentiles(of: output) }
                if round > 0 { runs[index].append(run) }
            }
        }
        return Result(comparison: self, contestants: present, runs: runs)
    }

    /// The percentiles of a file of times, one in each line, in nanoseconds.
    private static func percentiles(of path: String) throws -> [Double] {
        let times = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .compactMap { Double($0) }.map { $0 / 1e9 }.sorted()
        guard !times.isEmpty else {
            throw Program.Failure(description: "no times were printed")
        }
        return [0.5, 0.99, 0.999].map { share in
            times[Int((Double(times.count) * share).rounded(.up)) - 1]
        }
    }

    /// What was measured.
    struct Result {
        let comparison: Comparison
        let contestants: [Contestant]
        /// For each contestant, its runs in the order of the rounds.
        let runs: [[Run]]
        /// Counts for each piece, by the contestant's place; empty if nothing was counted.
        var counts: [Int: Counts] = [:]

        func values(_ figure: Figure, of index: Int) -> [Double] {
            runs[index].map { figure.value(of: $0, pieces: comparison.pieces) }
        }

        /// Ratios to the floor, within each round.
        func ratios(_ figure: Figure, of index: Int) -> [Double] {
            zip(values(figure, of: index), values(figure, of: comparison.floor)).map { $0 / $1 }
        }

        func holds(_ limit: Limit, of index: Int) -> Bool {
            let value = values(limit.figure, of: index).median
            switch limit.bound {
            case .ratio(let most): return ratios(limit.figure, of: index).median <= most
            case .more(let most):
                return value <= values(limit.figure, of: comparison.floor).median + most
            case .value(let most): return value <= most
            }
        }
    }
}

extension [Double] {
    /// Not a number if there is none.
    var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
