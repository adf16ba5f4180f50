/// The word that was meant.
enum Spelling {
    /// The one of `words` that is nearest to `word`, if it is near enough to have been meant: a third of
    /// its letters may be wrong, left out, added, or swapped with their neighbours.
    static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().unicodeScalars)
        let limit = max(1, letters.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in words where candidate != word {
            let other = Array(candidate.lowercased().unicodeScalars)
            guard abs(other.count - letters.count) <= limit else { continue }
            let found = distance(letters, other)
            guard found <= limit else { continue }
            // Of two that are as near, the first in the alphabet, so that it is always the same.
            if best.map({ (found, candidate) < ($0.distance, $0.word) }) ?? true {
                best = (candidate, found)
            }
        }
        return best?.word
    }

    /// Letters to replace, insert, delete or swap with their neighbour (optimal string alignment).
    private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + Array(repeating: 0, count: b.count)
            for j in 1...b.count {
                let cost = a[i - 1] == b[j - 1] ? 0 : 1
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
