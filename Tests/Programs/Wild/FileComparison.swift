import Foundation

/// The same file of both runs, compared through ffprobe, or by size if ffprobe cannot read it.
struct FileComparison {
    let name: String
    let whole: Remains
    let cut: Remains
    let isLive: Bool

    func differences() async throws -> [String] {
        let a = try await Probe.read(whole.directory.file(name))
        let b = try await Probe.read(cut.directory.file(name))
        switch (a, b) {
        case (nil, nil): return sizes
        case (nil, _): return []
        case (_, nil): return ["\(name): ffprobe reads the whole's alone"]
        case (let a?, let b?):
            return (streams(a, b) + complaints(a, b) + tags(a, b)).map { "\(name): \($0)" }
        }
    }

    /// Matroska's identifiers are random and written without leading zeros: one file in hundreds is a
    /// byte shorter.
    private func isCloseEnough(_ a: Int, _ b: Int) -> Bool {
        abs(a - b) <= (name.hasSuffix(".mkv") || name.hasSuffix(".webm") ? 8 : 0)
    }

    private var sizes: [String] {
        let (a, b) = (whole.files[name] ?? 0, cut.files[name] ?? 0)
        guard isLive || isCloseEnough(a, b) ? (a == 0) != (b == 0) : true else { return [] }
        return ["\(name): \(a) bytes whole, \(b) cut"]
    }

    private func streams(_ a: Probe, _ b: Probe) -> [String] {
        let (of, other) = (a.kinds, b.kinds)
        guard of == other else {
            return ["\(of.joined(separator: " + ")) whole, \(other.joined(separator: " + ")) cut"]
        }
        var differences = zip(a.sorted, b.sorted).flatMap { compare($0, $1) }
        if let first = a.seconds, let second = b.seconds,
            abs(first - second) > (isLive ? 2 : 0.15)
        {
            differences.append("\(first) s whole, \(second) s cut")
        }
        return differences
    }

    private func compare(_ a: Probe.Stream, _ b: Probe.Stream) -> [String] {
        var differences: [String] = []
        // The block sizes of audio may differ; only the total duration counts.
        let near = isLive ? Swift.max(3, a.frames / 4) : 0
        if a.isVideo, abs(a.frames - b.frames) > near {
            differences.append("\(a.frames) frames whole, \(b.frames) cut")
        }
        if a.isVideo, !isLive, a.rate != b.rate {
            differences.append("frame rate \(a.rate) whole, \(b.rate) cut")
        }
        if let first = a.seconds, let second = b.seconds,
            abs(first - second) > (isLive ? 2 : 0.15)
        {
            differences.append("\(a.kind) of \(first) s whole, \(second) s cut")
        }
        return differences
    }

    private func complaints(_ a: Probe, _ b: Probe) -> [String] {
        guard a.complaints.isEmpty, let first = b.complaints.first else { return [] }
        return ["ffprobe complains of the cut's alone: \(first)"]
    }

    private func tags(_ a: Probe, _ b: Probe) -> [String] {
        a.tags == b.tags ? [] : ["tags \(a.tags) whole, \(b.tags) cut"]
    }
}
