/// A gst-launch string as words, for the few questions that must be asked before it is parsed.
///
/// GStreamer's own parser decides what a string means; this only splits it the way that parser does:
/// at white space (of ASCII alone) outside of quotes, with a backslash taking the next character as it
/// is. Quotes count where a word or a property's value begins, and nowhere else: `text=it's` has none.
public struct PipelineText: Sendable {
    /// As it was given.
    public let text: String
    /// The words, quotes and all.
    public let words: [String]

    public init(_ text: String) {
        self.text = text
        self.words = PastedText.words(of: text)
    }

    /// The string without what only a shell reads, and without the `!` at which a longer one was cut; the
    /// same where there is nothing of it.
    public var plain: String { joined(PastedText.withoutCut(words)) }

    private func joined(_ words: [String]) -> String {
        words == Self.split(text) ? text : words.joined(separator: " ")
    }

    /// White space as GStreamer's parser knows it.
    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || ("\t"..."\r").contains(scalar)
    }

    static func split(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Unicode.Scalar?
        var escaped = false
        // By code points, as GStreamer reads: a space with an accent on it is still a space.
        for scalar in text.unicodeScalars {
            if !escaped, quote == nil, isSpace(scalar) {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            if escaped {
                escaped = false
            } else if scalar == "\\" {
                escaped = true
            } else if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "\"" || scalar == "'", word.isEmpty || word.hasSuffix("=") {
                quote = scalar
            }
            word.unicodeScalars.append(scalar)
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// The string as GStreamer's parser takes it. Caps in quotes, as they stand in shell scripts, are
    /// freed of them: the parser takes a word in quotes for no caps. Between two links all that follows
    /// a media type belongs to the caps, so that nothing else can come of it.
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

    /// Whether a word is caps, in quotes or not.
    static func isCaps(_ word: String) -> Bool {
        quotedCaps(word) != nil || beginsWithMediaType(Substring(word))
    }

    private static func quotedCaps(_ word: String) -> String? {
        guard word.count > 2, let quote = word.first, quote == "\"" || quote == "'",
            word.last == quote
        else { return nil }
        let inside = word.dropFirst().dropLast()
        guard inside.allSatisfy({ !"\"'\\!".contains($0) }),
            // Nothing but caps: the parser makes elements of what follows another semicolon.
            inside.split(separator: ";").allSatisfy(beginsWithMediaType)
        else { return nil }
        return String(inside)
    }

    private static func beginsWithMediaType(_ text: Substring) -> Bool {
        let text = text.drop { $0 == " " }
        guard let slash = text.firstIndex(of: "/") else { return false }
        let isName = { (text: Substring) in
            !text.isEmpty
                && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
        let subtype = text[text.index(after: slash)...].prefix { !",( ".contains($0) }
        return isName(text[..<slash]) && isName(subtype)
    }

    /// An element of the string: its factory and the properties written behind it.
    public struct Mention: Hashable, Sendable {
        /// `appsink`
        public let factory: String
        /// As written behind it, without quotes.
        public let properties: [String: String]
        /// Its name, where the string gives one.
        public var name: String? { properties["name"] }
    }

    /// Every mention of one of `factories`, in order.
    public func mentions(of factories: Set<String>) -> [Mention] {
        var found: [Mention] = []
        var index = 0
        while index < words.count {
            let word = words[index].trimming("()")
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

    /// Names given twice. GStreamer's parser says nothing of them, and drops an element.
    public var duplicateNames: [String] {
        var seen: Set<String> = []
        var twice: [String] = []
        for word in words {
            guard let (key, value) = Self.property(word.trimming("()")), key == "name" else {
                continue
            }
            if !seen.insert(value).inserted, !twice.contains(value) { twice.append(value) }
        }
        return twice
    }

    static func property(_ word: String) -> (String, String)? {
        guard let equals = word.firstIndex(of: "="), equals != word.startIndex else { return nil }
        let key = word[..<equals]
        guard key.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }) else {
            return nil
        }
        return (String(key), String(word[word.index(after: equals)...]).trimming("\"'()"))
    }
}

extension String {
    fileprivate func trimming(_ characters: String) -> String {
        var text = Substring(self)
        while let first = text.first, characters.contains(first) { text.removeFirst() }
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return String(text)
    }
}
