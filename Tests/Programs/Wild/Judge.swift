import Foundation

/// Compares the results of the whole line with those of its split form.
struct Judge {
    let entry: Entry
    let whole: Remains
    let cut: Remains

    /// The differences between both runs, and between them and the entry's expectations.
    func differences() async throws -> [String] {
        try await windows + datagrams + frames + files()
    }

    private var isLive: Bool { entry.expect.live }

    private var windows: [String] {
        let expected = entry.expect.windows
        guard expected > 0 else { return [] }
        guard whole.windows.count == expected else {
            return ["the line itself shows \(whole.windows.count) windows, not \(expected)"]
        }
        guard whole.windows != cut.windows else { return [] }
        return ["windows: \(whole.windows) whole, \(cut.windows) cut"]
    }

    private var datagrams: [String] {
        entry.expect.datagrams.flatMap { port in
            let (a, b) = (whole.datagrams[port], cut.datagrams[port])
            guard let a, let b, a.datagrams > 0 else {
                return ["the line itself sends nothing to \(port)"]
            }
            // A socket may lose a few datagrams; a live source sends a few more or fewer, with different
            // sizes.
            let times = difference(
                "times of RTP to \(port)", a.times.count, b.times.count, within: isLive ? 0.5 : 0.1)
            let count = difference("datagrams to \(port)", a.datagrams, b.datagrams, within: 0.1)
            return [times, isLive ? nil : count].compactMap(\.self)
        }
    }

    private var frames: [String] {
        guard let frames = entry.expect.frames else { return [] }
        guard let report = cut.report else {
            return ["no report on the last line of standard output"]
        }
        // A capture that is not live blocks until its outputs have room; the output counts frames that
        // are too late to show.
        let lost = report.captures.sorted { $0.key < $1.key }
            .filter { !isLive && $0.value.dropped > 0 }
        return lost.map { "\($0.key): the capture dropped \($0.value.dropped) frames" }
            + report.outputs.sorted { $0.key < $1.key }.compactMap { name, counts in
                if counts.frames == 0 { return "\(name): no frame reached it" }
                if case .exactly(let number) = frames, counts.frames < least(of: number) {
                    return "\(name): \(counts.frames) of \(number) frames reached it"
                }
                if !isLive, !isShown, counts.dropped > 0 {
                    return "\(name): \(counts.dropped) frames dropped"
                }
                return nil
            }
    }

    /// The minimum number of frames. A display drops late frames in both runs, so a busy machine may show
    /// very few.
    private func least(of number: Int) -> Int {
        isShown ? 1 : isLive ? number / 2 : number
    }

    /// Whether the frames are displayed in real time.
    private var isShown: Bool {
        entry.expect.windows > 0 || entry.outputs.contains { $0.contains("fakevideosink") }
    }

    private func files() async throws -> [String] {
        var differences: [String] = []
        for pattern in entry.expect.files {
            let matcher = Pattern(pattern)
            if !whole.files.keys.contains(where: matcher.matches) {
                differences.append("the line itself makes no file \(pattern)")
            }
        }
        let (a, b) = (Set(whole.files.keys), Set(cut.files.keys))
        if isLive, entry.expect.files.contains(where: { $0.contains("*") }) {
            let (a, b) = (a.count, b.count)
            if abs(a - b) > 1 { differences.append("\(a) files whole, \(b) cut") }
        } else if a != b {
            differences.append(
                "files: \(list(a.subtracting(b))) whole alone, \(list(b.subtracting(a))) cut alone")
        }
        for name in a.intersection(b).sorted() {
            differences += try await FileComparison(
                name: name, whole: whole, cut: cut, isLive: isLive
            ).differences()
        }
        return differences
    }

    private func list(_ names: Set<String>) -> String {
        names.isEmpty ? "none" : names.sorted().prefix(3).joined(separator: ", ")
    }

    private func difference(_ what: String, _ a: Int, _ b: Int, within part: Double) -> String? {
        let allowed = Swift.max(2, Double(a) * part)
        return abs(Double(a - b)) <= allowed ? nil : "\(what): \(a) whole, \(b) cut"
    }
}

/// A name pattern in which `*` matches any text.
struct Pattern {
    private let pieces: [Substring]

    init(_ text: String) { pieces = text.split(separator: "*", omittingEmptySubsequences: false) }

    func matches(_ name: String) -> Bool {
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else {
            return name == pieces.first.map(String.init)
        }
        return name.hasPrefix(first) && name.hasSuffix(last)
            && name.count >= first.count + last.count
    }
}
