extension PipelineText {
    /// Names that words with a dot (`mux.`, `mux.sink_0`) refer to although no element of the
    /// string has them.
    package var unknownReferences: [String] { unknownReferences { _ in true } }

    /// Those of ``unknownReferences`` that a chain begins with: `t. ! queue`.
    package var unknownBeginnings: [String] {
        unknownReferences { index in index == 0 || words[index - 1] != "!" }
    }

    private func unknownReferences(where isMeant: (Int) -> Bool) -> [String] {
        let given = elementNames
        return words.indices.filter(isMeant).compactMap { index in
            guard let name = referredName(at: index), !given.contains(name), !isNumbered(name)
            else { return nil }
            return name
        }
    }

    /// Returns the property with quotes if `name` is the rest of a value with a space: `location=my film.mp4`;
    /// otherwise `nil`.
    package func valueWithSpace(before name: String) -> String? {
        let words = words
        guard
            let index = words.indices.dropFirst().first(where: {
                words[$0].hasPrefix("\(name).") && words[$0 - 1] != "!"
                    && words[$0 - 1].contains("=")
            }), let equals = words[index - 1].firstIndex(of: "=")
        else { return nil }
        let value = words[index - 1][equals...].dropFirst()
        return "\(words[index - 1][..<equals])=\"\(value) \(words[index])\", in quotes"
    }

    /// Returns the string with `element` in place of the reference to `name`, or with `element` and
    /// a tee of that name in front of it if there are several references.
    package func replacingReference(to name: String, with element: String) -> String {
        let references = words.indices.filter { referredName(at: $0) == name }
        guard references.count == 1, references[0] + 1 < words.count,
            words[references[0] + 1] == "!"
        else { return "\(element) ! tee name=\(name) \(text)" }
        var words = words
        words[references[0]] = element
        return words.joined(separator: " ")
    }

    /// Returns the name that a word with a dot beside a link refers to; `nil` for any other word.
    private func referredName(at index: Int) -> String? {
        let word = words[index]
        guard let dot = word.firstIndex(of: "."), dot != word.startIndex,
            isBesideLink(index), !word.contains("/"), !word.contains("=")
        else { return nil }
        let name = word[..<dot]
        let isName = name.allSatisfy { $0.isLetter || $0.isNumber || "-_".contains($0) }
        return isName ? String(name) : nil
    }

    private func isBesideLink(_ index: Int) -> Bool {
        index > 0 && words[index - 1] == "!"
            || index + 1 < words.count && words[index + 1] == "!"
    }

    /// Whether it is the name that GStreamer gives to an unnamed element: `videotestsrc0`.
    private func isNumbered(_ name: String) -> Bool {
        guard name.last?.isNumber == true else { return false }
        var stem = Substring(name)
        while stem.last?.isNumber == true { stem.removeLast() }
        if stem.last == "-" { stem.removeLast() }
        return words.contains { $0.hasPrefix(stem) }
    }
}
