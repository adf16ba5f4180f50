internal import Foundation

/// A pipeline string with `${name}` in it.
struct VariableText {
    private enum Piece {
        case text(Substring)
        /// A variable, and the quote it stands in.
        case variable(String, quote: Character?)
    }
    private var pieces: [Piece] = []

    init(_ text: String) {
        var rest = text[...]
        var quote: Character?
        while let start = rest.range(of: "${"),
            let end = rest[start.upperBound...].firstIndex(of: "}")
        {
            let before = rest[..<start.lowerBound]
            quote = Self.quote(after: before, in: quote)
            pieces.append(.text(before))
            pieces.append(.variable(String(rest[start.upperBound..<end]), quote: quote))
            rest = rest[rest.index(after: end)...]
        }
        pieces.append(.text(rest))
    }

    /// The quote that is open behind `text`, if `open` was open before it.
    private static func quote(after text: Substring, in open: Character?) -> Character? {
        var open = open
        var isEscaped = false
        for character in text {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if let quote = open {
                if character == quote { open = nil }
            } else if character == "\"" || character == "'" {
                open = character
            }
        }
        return open
    }

    var names: [String] {
        pieces.compactMap { piece in
            if case .variable(let name, _) = piece { name } else { nil }
        }
    }

    /// The string with values in place, each of which stays one word, or a part of one: it cannot add
    /// an element, a link or a property.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badFile`` for a variable without a value,
    ///   and for a value that cannot stand where it is put.
    func filled(with values: [String: String]) throws(PipelineError) -> String {
        var result = ""
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .variable(let name, let quote):
                guard let value = values[name] else {
                    throw PipelineError(
                        .badFile, message: "variable \"${\(name)}\" has no value",
                        advice: "--set \(name)=VALUE")
                }
                result += try Self.inert(value, of: name, in: quote)
            }
        }
        return result
    }

    private static func inert(
        _ value: String, of name: String, in quote: Character?
    ) throws(PipelineError) -> String {
        let isControl = value.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
        // Inside quotes a backslash is no escape for GStreamer, so nothing may end the quotes.
        let endsQuote = quote != nil && value.contains { $0 == quote || $0 == "\\" }
        guard !isControl, !endsQuote else {
            throw PipelineError(
                .badFile,
                message: "the value of \"${\(name)}\" has a character that cannot stand there",
                advice: "no line breaks, and no quotes or backslashes where the string has quotes")
        }
        if quote != nil { return value }
        if value.isEmpty { return "\"\"" }
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+~"
        return value.reduce(into: "") { text, character in
            if character.isASCII, !plain.contains(character) { text.append("\\") }
            text.append(character)
        }
    }
}
