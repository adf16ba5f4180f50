/// A pipeline string with variables, written `${name}`.
struct VariableText {
    private enum Piece {
        case text(Substring)
        case variable(String)
    }
    private var pieces: [Piece] = []
    /// Whether a `${` has no closing `}`.
    private(set) var isOpen = false

    init(_ text: String) {
        var rest = text[...]
        while let start = rest.firstRange(of: "${"),
            let end = rest[start.upperBound...].firstIndex(of: "}")
        {
            pieces.append(.text(rest[..<start.lowerBound]))
            pieces.append(.variable(String(rest[start.upperBound..<end])))
            rest = rest[rest.index(after: end)...]
        }
        pieces.append(.text(rest))
        isOpen = rest.contains("${")
    }

    /// Returns the first of `names` that is written `$name`, without braces, so that it is not
    /// replaced.
    func unbraced(of names: Set<String>) -> String? {
        for case .text(let text) in pieces {
            for part in text.split(separator: "$", omittingEmptySubsequences: false).dropFirst() {
                let word = part.prefix { $0.isLetter || $0.isNumber || "_-".contains($0) }
                if names.contains(String(word)) { return String(word) }
            }
        }
        return nil
    }

    var names: [String] {
        pieces.compactMap { piece in
            if case .variable(let name) = piece { name } else { nil }
        }
    }

    /// Returns the string with the values inserted. Each value stays one word or a part of one: it
    /// cannot add an element, a link or a property.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badFile`` for a variable without a
    ///   value, and for a value that is not allowed at its position.
    func filled(with values: [String: String]) throws(PipelineError) -> String {
        var result = ""
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let literal): result += literal
            case .variable(let name):
                guard let value = values[name] else {
                    throw PipelineError(
                        .badFile, message: "variable \"${\(name)}\" has no value",
                        advice: "--set \(name)=VALUE")
                }
                // A letter stands for this value, and for each later one.
                let sample = pieces[index...].map { piece in
                    if case .text(let text) = piece { String(text) } else { "x" }
                }.joined()
                let position = PipelineText.position(
                    at: result.utf8.count, in: result + sample)
                let endsWord = wordEnds(after: index, values)
                result += try Self.inert(value, of: name, at: position, endsWord: endsWord)
            }
        }
        return result
    }

    /// Whether white space, or the end of the string, follows a piece.
    private func wordEnds(after index: Int, _ values: [String: String]) -> Bool {
        for piece in pieces[(index + 1)...] {
            switch piece {
            case .text(let text):
                if let first = text.unicodeScalars.first { return PipelineText.isSpace(first) }
            case .variable(let name):
                if values[name]?.isEmpty == false { return false }
            }
        }
        return true
    }

    private static func inert(
        _ value: String, of name: String, at position: PipelineText.Position, endsWord: Bool
    ) throws(PipelineError) -> String {
        // Compares code points, as GStreamer does: a quote with a combining accent is still a
        // quote.
        let scalars = value.unicodeScalars
        guard !scalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            throw refusal(of: name, "must not contain line breaks or control characters")
        }
        switch position {
        case .value(let isStart, let isInStrayQuotes):
            if endsWord, isStart, let text = wrapped(value) { return text }
            let text = escaped(value)
            // A backslash would make the space behind it a part of the word.
            guard !endsWord || !text.hasSuffix("\\") else {
                throw refusal(of: name, "must not end in a backslash at this position")
            }
            guard !isInStrayQuotes || text == value else {
                throw refusal(of: name, "may contain only letters, digits and -_./:,@%+~ here")
            }
            return text
        case .quoted(let quote):
            // Inside quotes a backslash is no reliable escape.
            guard !scalars.contains(where: { $0 == "\\" || Character($0) == quote }) else {
                throw refusal(of: name, "must not contain \(quote) or a backslash inside quotes")
            }
            return value
        case .caps:
            guard !value.isEmpty, scalars.allSatisfy({ $0.isPlain(or: "-_./+") }) else {
                throw refusal(of: name, "may contain only letters, digits and -_./+ in caps")
            }
            return value
        case .word:
            guard !value.isEmpty, scalars.allSatisfy({ $0.isPlain(or: "-_") }) else {
                throw refusal(
                    of: name, "may contain only letters, digits and -_ outside properties")
            }
            return value
        }
    }

    /// Returns a value that GStreamer would misread in GStreamer's own notation for it: an empty
    /// value, `NULL`, a value in quotes, and one that ends in a backslash. `nil` for any other.
    private static func wrapped(_ value: String) -> String? {
        if value.isEmpty { return "\"\"" }
        let scalars = value.unicodeScalars
        let isInQuotes = scalars.first == "\"" && scalars.last == "\""
        guard isInQuotes || scalars.last == "\\" || value == "NULL" else { return nil }
        let bytes = value.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            return scalar.isPlain(or: "-_./:+")
                ? String(scalar) : "\\" + String(512 + Int(byte), radix: 8).dropFirst()
        }
        return escaped("\"\(bytes.joined())\"")
    }

    private static func escaped(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            if scalar.isASCII, !scalar.isPlain(or: "-_./:,@%+~") { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }

    private static func refusal(of name: String, _ why: String) -> PipelineError {
        PipelineError(
            .badFile, message: "the value of \"${\(name)}\" \(why)",
            advice: "an unquoted property (location=${\(name)}) takes any file name")
    }
}

extension Unicode.Scalar {
    /// Whether the character is an ASCII letter or digit, or one of `others`.
    fileprivate func isPlain(or others: String) -> Bool {
        isASCII && (properties.isAlphabetic || ("0"..."9").contains(self))
            || others.unicodeScalars.contains(self)
    }
}
