/// A gst-launch string as words, for the few questions that must be asked before it is parsed.
///
/// GStreamer's own parser decides what a string means; this only splits it the way that parser does:
/// at white space outside of quotes, with a backslash taking the next character as it is.
public struct PipelineText: Sendable {
    public let text: String
    /// The words, quotes and all.
    public let words: [String]

    public init(_ text: String) {
        self.text = text
        self.words = Self.split(text)
    }

    private static func split(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        var escaped = false
        for character in text {
            if escaped {
                word.append(character)
                escaped = false
            } else if character == "\\" {
                word.append(character)
                escaped = true
            } else if let open = quote {
                word.append(character)
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                word.append(character)
                quote = character
            } else if character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// An element of the string: its factory and the properties written behind it.
    public struct Mention: Hashable, Sendable {
        public let factory: String
        public let properties: [String: String]
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

    private static func property(_ word: String) -> (String, String)? {
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
