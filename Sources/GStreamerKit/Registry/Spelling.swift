/// Suggestions for misspelt names.
enum Spelling {
    /// Returns the element of `words` that is nearest to `word`, or `nil` if none is near enough:
    /// one letter, or up to a third of the letters of `word`, may be wrong, missing, added, or
    /// swapped with a neighbour.
    static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().unicodeScalars)
        let limit = max(1, letters.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in words where candidate != word {
            let other = Array(candidate.lowercased().unicodeScalars)
            guard abs(other.count - letters.count) <= limit else { continue }
            let found = distance(letters, other)
            guard found <= limit else { continue }
            // Of two candidates at the same distance the alphabetically first wins, so that the
            // result is always the same.
            if best.map({ (found, candidate) < ($0.distance, $0.word) }) ?? true {
                best = (candidate, found)
            }
        }
        return best?.word
    }

    /// Returns the number of letters to replace, insert, delete or swap with a neighbour (optimal
    /// string alignment distance).
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
