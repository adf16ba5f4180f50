/// A gst-launch string split into words, for checks that must be made before it is parsed.
///
/// GStreamer's own parser decides what a string means; this type only splits it in the same way: at
/// ASCII white space outside of quotes. A backslash escapes the next character. Quotes are
/// recognised only at the beginning of a word or of a property's value: `text=it's` has none.
package struct PipelineText: Sendable {
    /// The string as it was given.
    package let text: String
    /// The words, including their quotes.
    package let words: [String]

    /// Splits a string into words, and removes shell syntax that GStreamer does not read.
    package init(_ text: String) {
        self.text = text
        self.words = PastedText.words(of: text)
    }

    /// The string without shell syntax, and without a leading or trailing `!` that remains of a
    /// longer string; unchanged if there is nothing to remove.
    package var plain: String { joined(PastedText.withoutCut(words)) }

    private func joined(_ words: [String]) -> String {
        words == Self.split(text) ? text : words.joined(separator: " ")
    }

    /// Returns whether it is white space for GStreamer's parser.
    package static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || ("\t"..."\r").contains(scalar)
    }

    /// - Parameter joinsLines: Whether to remove backslashes at the ends of lines, and those left
    ///   within a line when lines were joined: they stand where a word would begin.
    static func split(_ text: String, joinsLines: Bool = false) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        var quote: Unicode.Scalar?
        func endWord() {
            if !word.isEmpty { words.append(String(word)) }
            word = String.UnicodeScalarView()
        }
        // By code points, as GStreamer does: a space with a combining accent is still a space.
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            if scalar == "\\" {
                let next = rest.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
                let beginsWord = quote == nil && word.isEmpty
                let isFolded = beginsWord && (next.isEmpty || next.count < rest.count)
                if joinsLines, next.first == "\n" || isFolded {
                    if quote == nil { endWord() }
                    rest = next.first == "\n" ? next.dropFirst() : next
                    continue
                }
                word.append(scalar)
                if let escaped = rest.popFirst() { word.append(escaped) }
                continue
            }
            if quote == nil, isSpace(scalar) {
                endWord()
                continue
            }
            if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "\"" || scalar == "'", word.isEmpty || word.last == "=" {
                quote = scalar
            }
            word.append(scalar)
        }
        endWord()
        return words
    }

    /// The string that is passed to GStreamer's parser. Quotes around caps, as in shell scripts,
    /// are removed, because the parser does not recognise a quoted word as caps. Between two links
    /// everything after a media type belongs to the caps, so removing the quotes has no other
    /// effect.
    var parsable: String { joined(parsableWords) }

    var parsableWords: [String] {
        var result = words
        for index in words.indices.dropFirst().dropLast() {
            guard words[index - 1] == "!", words[index + 1] == "!",
                let caps = Self.quotedCaps(words[index])
            else { continue }
            result[index] = caps
        }
        return result
    }

    /// Returns whether a word is caps, quoted or not.
    static func isCaps(_ word: String) -> Bool {
        quotedCaps(word) != nil || beginsWithMediaType(Substring(word))
    }

    private static func quotedCaps(_ word: String) -> String? {
        guard word.count > 2, let quote = word.first, quote == "\"" || quote == "'",
            word.last == quote
        else { return nil }
        let inside = word.dropFirst().dropLast()
        guard inside.allSatisfy({ !"\"'\\!".contains($0) }),
            // Only caps: the parser makes elements of other text behind a semicolon.
            inside.split(separator: ";").allSatisfy(beginsWithMediaType)
        else { return nil }
        return String(inside)
    }

    private static func beginsWithMediaType(_ text: Substring) -> Bool {
        text.prefixMatch(of: /\ *[A-Za-z0-9\-]+\/[A-Za-z0-9\-]+(?:[,(\ ]|\z)/) != nil
    }

    /// An element of the string: its factory and the properties written behind it.
    package struct Mention: Hashable, Sendable {
        /// The factory name, for example `appsink`.
        package let factory: String
        /// The properties written behind it, by name; values without quotes.
        package let properties: [String: String]
        /// Its name, if the string gives one.
        package var name: String? { properties["name"] }
    }

    /// Returns all mentions of `factories`, in order.
    package func mentions(of factories: Set<String>) -> [Mention] {
        var found: [Mention] = []
        var index = 0
        while index < words.count {
            let word = words[index].trimming(Self.isParenthesis)
            index += 1
            guard factories.contains(word) else { continue }
            var properties: [String: String] = [:]
            while index < words.count, let (key, value) = Self.property(words[index]) {
                properties[key] = value
                index += 1
            }
            found.append(Mention(factory: word, properties: properties))
        }
        return found
    }

    /// Names that are given to more than one element. GStreamer's parser reports no error for them,
    /// and drops an element.
    package var duplicateNames: [String] {
        var seen: Set<String> = []
        var twice: [String] = []
        for name in elementNames where !seen.insert(name).inserted && !twice.contains(name) {
            twice.append(name)
        }
        return twice
    }

    /// The names that the string gives to its elements.
    package var elementNames: [String] {
        words.compactMap { word in
            guard let (key, value) = Self.property(word.trimming(Self.isParenthesis)), key == "name"
            else {
                return nil
            }
            return value
        }
    }

    static func property(_ word: String) -> (String, String)? {
        guard let equals = word.firstIndex(of: "="), equals != word.startIndex else { return nil }
        let key = word[..<equals]
        guard key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }) else {
            return nil
        }
        let value = String(word[word.index(after: equals)...])
        return (String(key), value.trimming { "\"'()".contains($0) })
    }

    private static func isParenthesis(_ character: Character) -> Bool {
        character == "(" || character == ")"
    }
}

// MARK: References

extension PipelineText {
    /// Names that words with a dot (`mux.`, `mux.sink_0`) refer to although no element of the
    /// string has them.
    package var unknownReferences: [String] { unknownReferences { _ in true } }

    /// Those of ``unknownReferences`` that a chain begins with: `t. ! queue`.
    package var undefinedChainStarts: [String] {
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
