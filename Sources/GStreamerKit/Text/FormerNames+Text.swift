extension FormerNames {
    /// Returns the present replacement of every old name in a string; `nil` if it has none.
    static func advice(in text: PipelineText) -> String? {
        var changes: [String] = []
        for token in text.tokens {
            let change: (today: String, former: String)? =
                switch token {
                case .identifier(let name), .bin(let name):
                    element(name).map { ($0, name) }
                case .link(let link): FormerCaps.change(in: link)
                case .assignment(let text): FormerCaps.change(in: text)
                default: nil
                }
            guard let change else { continue }
            let sentence = "\(change.today) instead of \(change.former)"
            if !changes.contains(sentence) { changes.append(sentence) }
        }
        guard !changes.isEmpty else { return nil }
        return changes.joined(separator: "; ") + ": the names of GStreamer 0.10 have changed"
    }
}
