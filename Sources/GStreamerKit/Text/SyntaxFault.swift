/// The position of a syntax error in a string, and its reason; GStreamer's parser only reports
/// "syntax error".
///
/// The grammar is that of GStreamer's `grammar.y`: chains of elements with links between them, in
/// parentheses or not, that begin and end with an element, an address or a reference to a name.
struct SyntaxFault {
    /// The string from the error on or, if it ends too early, its last words.
    let place: String
    let reason: String
    let advice: String

    var message: String {
        let quote = place.contains("\"") ? "'" : "\""
        return "at \(quote)\(place)\(quote): \(reason)"
    }

    /// Returns the first error; `nil` if the string conforms to the grammar.
    static func first(in text: PipelineText) -> SyntaxFault? {
        var reader = GrammarReader()
        var lexer = PipelineLexer(Array(text.parsable.utf8))
        while let (token, range) = lexer.nextPlaced() {
            if let problem = reader.read(token, at: range.lowerBound) {
                return SyntaxFault(
                    place: lexer.excerpt(from: problem.start ?? range.lowerBound),
                    reason: problem.reason, advice: problem.advice)
            }
        }
        return reader.problemAtEnd.map { problem in
            SyntaxFault(
                place: problem.start.map { lexer.excerpt(from: $0) } ?? lexer.end,
                reason: problem.reason, advice: problem.advice)
        }
    }
}

/// Reads tokens and checks which may come next.
private struct GrammarReader {
    struct Problem {
        let reason: String
        let advice: String
        /// Byte offset from which the excerpt is shown; `nil` for the token itself.
        var start: Int?
    }

    private enum Place {
        /// A chain may begin here.
        case chain
        /// Behind an opening parenthesis, where properties of the bin may follow.
        case opened
        case element, bin, pads, address
        /// Behind a reference that begins a chain, or one that ends it.
        case reference, lastReference
        /// Behind an address that ends a chain.
        case ended
        case link
        /// Behind the pad names that follow a link.
        case linkPads
        /// Behind the comma of a list of pads.
        case comma
    }
    private var place = Place.chain
    private var beforeComma = Place.chain
    /// Byte offsets of the parentheses that are still open.
    private var brackets: [Int] = []
    /// Byte offset of the token before.
    private var previous = 0

    /// Returns the error if a token is not valid at this position; `nil` if it is valid.
    mutating func read(_ token: PipelineText.Token, at start: Int) -> Problem? {
        defer { previous = start }
        if place == .comma {
            guard case .identifier = token else {
                return Problem(
                    reason: "a comma without a pad name after it",
                    advice: "remove the comma; caps belong between two !")
            }
            place = beforeComma
            return nil
        }
        switch token {
        case .identifier:
            place = .element
        case .bin, .other("("):
            brackets.append(start)
            place = .opened
        case .location:
            if place == .linkPads { return unexpected(token) }
            place = place == .link ? .ended : .address
        case .reference(let text):
            return reference(text)
        case .assignment, .preset:
            // The state does not change: more properties may follow.
            guard [.element, .opened].contains(place) else { return unexpected(token) }
        case .link:
            return link()
        case .other(","):
            guard [.pads, .linkPads, .reference, .lastReference].contains(place) else {
                return unexpected(token)
            }
            beforeComma = place
            place = .comma
        case .other(")"):
            if place == .link || place == .linkPads { return dangling("before the )") }
            guard brackets.popLast() != nil else {
                return Problem(
                    reason: "a ) without a (", advice: "remove it, or add the (")
            }
            place = .bin
        case .other:
            return unexpected(token)
        }
        return nil
    }

    private mutating func reference(_ text: String) -> Problem? {
        // `.src` is a pad of the element in front of it or behind it, `t.` an element.
        guard text.hasPrefix(".") else {
            if place == .linkPads { return unexpected(.reference(text)) }
            place = place == .link ? .lastReference : .reference
            return nil
        }
        switch place {
        case .element, .bin: place = .pads
        case .link: place = .linkPads
        default: return unexpected(.reference(text))
        }
        return nil
    }

    private mutating func link() -> Problem? {
        switch place {
        case .element, .bin, .pads, .address, .reference:
            place = .link
            return nil
        case .link:
            return Problem(
                reason: "two ! with nothing between them", advice: "remove one !",
                start: previous)
        case .chain, .opened:
            return Problem(
                reason: "a ! with nothing before it",
                advice: "put an element before it, or remove it")
        case .linkPads: return dangling("before the next !")
        case .lastReference, .ended, .comma:
            return Problem(
                reason: "a ! after the end of a chain: a word with a dot ends a chain",
                advice:
                    "put a tee or a queue after the element that it refers to, and continue there")
        }
    }

    private func dangling(_ side: String) -> Problem {
        Problem(
            reason: "a ! without an element \(side)",
            advice: "put an element after it, or remove it")
    }

    private func unexpected(_ token: PipelineText.Token) -> Problem {
        switch token {
        case .assignment(let text):
            let key = text.prefix { $0 != "=" }
            return Problem(
                reason: "a property that belongs to no element",
                advice: "put \(key)=… directly after its element, with no ! between them")
        case .preset:
            return Problem(
                reason: "a preset that belongs to no element", advice: "put it after its element")
        case .other(let character) where "\"'".contains(character):
            return Problem(
                reason: "a misplaced quote, or one that is never closed",
                advice: "put quotes around the value of a property, or around caps between two !")
        case .other(","):
            return Problem(
                reason: "a comma outside of caps",
                advice: "put caps between two !, beginning with their type: video/x-raw,width=320")
        case .other(let character):
            return Problem(
                reason: "GStreamer accepts no \"\(character)\" here",
                advice: "remove it, or quote it if it belongs to a property's value")
        default:
            return Problem(
                reason: "something that cannot be linked", advice: "put an element in its place")
        }
    }

    /// The error if the string ends here; `nil` if it may end.
    var problemAtEnd: Problem? {
        switch place {
        case .link, .linkPads: return dangling("after it")
        case .comma:
            return Problem(
                reason: "a comma without a pad name after it", advice: "remove the comma")
        default: break
        }
        return brackets.last.map {
            Problem(
                reason: "a ( that is never closed", advice: "put a ) after its last element",
                start: $0)
        }
    }
}

extension PipelineLexer {
    /// Returns the first words from an offset on.
    fileprivate func excerpt(from start: Int) -> String { brief(words(from: start, to: length)) }

    /// The last words, at most four.
    fileprivate var end: String {
        let all = words(from: 0, to: length)
        return all.suffix(4).joined(separator: " ")
    }

    private func words(from start: Int, to end: Int) -> [String] {
        string(start..<end).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    private func brief(_ words: [String]) -> String {
        words.count > 4
            ? words.prefix(3).joined(separator: " ") + " …" : words.joined(separator: " ")
    }
}
