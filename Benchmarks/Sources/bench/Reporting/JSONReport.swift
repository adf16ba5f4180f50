import Foundation

/// Every figure of every run.
struct JSONReport: Encodable {
    private struct Entry: Encodable {
        let name: String
        let title: String
        let pieces: Int
        let piece: String
        let floor: String?
        let contestants: [Side]
    }
    private struct Side: Encodable {
        let name: String
        let command: [String]
        let runs: [Run]
        /// Medians of the comparison's figures, for each piece.
        let medians: [String: Double]
        let ratios: [String: Double]
        let counts: Counts?
    }
    private let machine: Machine
    private let rounds: Int
    private let comparisons: [Entry]

    init(_ machine: Machine, _ rounds: Int, _ results: [Comparison.Result]) {
        self.machine = machine
        self.rounds = rounds
        comparisons = results.map { result in
            let comparison = result.comparison
            return Entry(
                name: comparison.name, title: comparison.title, pieces: comparison.pieces,
                piece: comparison.piece,
                floor: comparison.floor.map { result.contestants[$0].name },
                contestants: result.contestants.enumerated().map { index, contestant in
                    func medians(_ values: (Figure) -> [Double]) -> [String: Double] {
                        let pairs = comparison.figures.map { ($0.rawValue, values($0).median) }
                        return Dictionary(
                            uniqueKeysWithValues: pairs.filter { $0.1.isFinite })
                    }
                    return Side(
                        name: contestant.name,
                        command: [contestant.program] + contestant.arguments,
                        runs: result.runs[index],
                        medians: medians { result.values($0, of: index) },
                        ratios: medians { result.ratios($0, of: index) },
                        counts: result.counts[index])
                })
        }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}
