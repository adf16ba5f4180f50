import Foundation

/// A value measured in a run.
enum Figure: String, Codable {
    /// CPU time of the whole process for each piece of work, user and system, in seconds.
    case cpu = "CPU"
    /// Wall-clock time for each piece of work, in seconds.
    case wall
    /// Peak resident memory, in bytes.
    case peak
    /// Context switches for each piece of work.
    case switches
    /// Percentiles of the times that the program printed, in seconds.
    case p50, p95, p99
    case p999 = "p99.9"
    /// CPU time as a share of the wall-clock time, for a run that lasts as long as its media.
    case load
    /// The same for other processes, as the program measured it: the sender, the receiver, and the server
    /// between them.
    case sender, receiver, server
    /// Instructions and allocations for each piece of work, which `--full` counts: see ``Counts``.
    case instructions, allocations

    /// Whether the program prints it.
    var isPrinted: Bool {
        switch self {
        case .p50, .p95, .p99, .p999, .sender, .receiver, .server: true
        case .cpu, .wall, .peak, .switches, .load, .instructions, .allocations: false
        }
    }

    func value(of run: Run, pieces: Int) -> Double {
        switch self {
        case .cpu: (run.user + run.system) / Double(pieces)
        case .wall: run.wall / Double(pieces)
        case .peak: Double(run.peakKilobytes) * 1024
        case .switches: Double(run.switches) / Double(pieces)
        case .p50: run.percentiles?[0] ?? .nan
        case .p95: run.percentiles?[1] ?? .nan
        case .p99: run.percentiles?[2] ?? .nan
        case .p999: run.percentiles?[3] ?? .nan
        case .load: (run.user + run.system) / run.wall
        case .sender, .receiver, .server: run.loads?[rawValue] ?? .nan
        case .instructions, .allocations: .nan  // counted separately, not measured in a run
        }
    }

    func text(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        return switch self {
        case .cpu, .wall, .p50, .p95, .p99, .p999: value.asTime
        case .peak: (value / 1_048_576).rounded(to: 1) + " MB"
        case .switches: value.rounded(to: 3)
        case .instructions: value.rounded(to: 0)
        case .allocations: value.rounded(to: 2)
        case .load, .sender, .receiver, .server: (value * 100).rounded(to: 1) + " %"
        }
    }
}

/// The upper limit of a figure.
struct Limit {
    enum Bound {
        /// This many times the floor's.
        case ratio(Double)
        /// This much more than the floor's, in the figure's unit.
        case more(Double)
        /// This value, independent of the floor's.
        case value(Double)
    }
    let figure: Figure
    let bound: Bound

    init(_ figure: Figure, _ bound: Bound) {
        self.figure = figure
        self.bound = bound
    }

    var text: String {
        switch bound {
        case .ratio(let most): "\(figure.rawValue) ≤ \(most) ×"
        case .more(let most): "\(figure.rawValue) ≤ + \(figure.text(most))"
        case .value(let most): "\(figure.rawValue) ≤ \(figure.text(most))"
        }
    }
}

extension Double {
    /// A time in seconds, formatted in a suitable unit.
    var asTime: String {
        switch abs(self) {
        case ..<1e-3: (self * 1e6).rounded(to: 2) + " µs"
        case ..<1: (self * 1e3).rounded(to: 2) + " ms"
        default: rounded(to: 2) + " s"
        }
    }

    func rounded(to digits: Int) -> String {
        isFinite ? String(format: "%.\(digits)f", self) : "-"
    }
}
