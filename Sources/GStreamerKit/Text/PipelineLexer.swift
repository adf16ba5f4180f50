extension PipelineText {
    /// A token of GStreamer's lexer. Only some kinds create elements.
    package enum Token: Hashable, Sendable {
        /// A property as written, for example `num-buffers=5`.
        case assignment(String)
        /// A preset as written, for example `@preset=name`.
        case preset(String)
        /// A factory name.
        case identifier(String)
        /// The factory name in `bin.(`.
        case bin(String)
        /// A reference to an element or a pad: `t.`, `t.src`, `.src`.
        case reference(String)
        /// A link: `!` or `:`, or two of them with caps in between.
        case link(String)
        /// A path or URI, for which GStreamer makes an element.
        case location(String)
        /// Any other character.
        case other(Character)
    }

    /// The string's tokens according to the rules of GStreamer's lexer (`parse.l`): the longest
    /// match wins, and among matches of equal length the first rule. `fakesrc!shmsink` is two
    /// elements.
    package var tokens: [Token] {
        var lexer = PipelineLexer(Array(parsable.utf8))
        var tokens: [Token] = []
        while let (token, _) = lexer.next() { tokens.append(token) }
        return tokens
    }
}

// MARK: Positions

extension PipelineText {
    /// The kind of a position in a string, which decides what may be written there.
    package enum Position: Equatable, Sendable {
        /// In a word that is not a property's value: a factory, a pad, a property's name.
        case word
        /// In a caps filter.
        case caps
        /// In a value without quotes.
        ///
        /// - Parameters:
        ///   - isStart: Whether it is directly after the `=` of a property.
        ///   - isInStrayQuotes: Whether quotes were opened in the middle of the value: GStreamer
        ///     then keeps backslashes.
        case value(isStart: Bool, isInStrayQuotes: Bool)
        /// In a value in quotes.
        case quoted(Character)
    }

    /// Returns the kind of the position of a character.
    ///
    /// - Parameters:
    ///   - offset: Byte offset of the character.
    ///   - text: A gst-launch string.
    package static func position(at offset: Int, in text: String) -> Position {
        var lexer = PipelineLexer(Array(text.utf8))
        // Caps at the end of a string are no link yet: `! video/x-raw, width=320`.
        var isInCaps = false
        while let (token, place) = lexer.next() {
            switch token {
            case .location: isInCaps = true
            case .link: isInCaps = false
            default: break
            }
            guard place.contains(offset) else { continue }
            switch token {
            case _ where isInCaps, .link: return .caps
            case .assignment: return lexer.position(at: offset, inAssignment: place)
            default: return .word
            }
        }
        return .word
    }
}

extension PipelineLexer {
    fileprivate func position(
        at offset: Int, inAssignment place: Range<Int>
    ) -> PipelineText.Position {
        guard let start = afterIdentifier(place.lowerBound).flatMap(afterEquals), offset >= start
        else { return .word }
        if afterQuotes(start) == place.upperBound, let quote = at(start) { return .quoted(quote) }
        var (quotes, index) = (0, start)
        while index < offset {
            if at(index) == "\"" { quotes += 1 }
            index += at(index) == "\\" ? 2 : 1
        }
        return .value(isStart: offset == start, isInStrayQuotes: quotes % 2 == 1)
    }
}

// MARK: Tokens

/// The patterns of GStreamer's lexer. Each `after…` method takes the offset at which a match would
/// begin and returns the offset behind the longest match; `nil` if there is none.
struct PipelineLexer {
    private let text: [UInt8]
    private var place = 0

    init(_ text: [UInt8]) { self.text = text }

    /// Returns the next token and its byte range.
    mutating func next() -> (token: PipelineText.Token, place: Range<Int>)? {
        while isSpace(place) { place += 1 }
        guard place < text.count else { return nil }
        let start = place
        var best = (
            end: start, make: { (text: String) in PipelineText.Token.other(text.first ?? "?") }
        )
        for case (let end?, let make) in matches(start) where end > best.end { best = (end, make) }
        place = max(best.end, start + 1)
        return (best.make(String(decoding: text[start..<place], as: UTF8.self)), start..<place)
    }

    /// Returns the words of the string from a byte offset on.
    func words(from start: Int) -> [String] {
        String(decoding: text[start...], as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .map(String.init)
    }

    // MARK: Rules

    /// In GStreamer's order, which decides between matches of equal length.
    private func matches(
        _ start: Int
    ) -> [(end: Int?, make: (String) -> PipelineText.Token)] {
        [
            (afterAssignment(start), { .assignment($0) }), (afterPreset(start), { .preset($0) }),
            (afterPadReference(start), { .reference($0) }),
            (afterReference(start), { .reference($0) }),
            (afterBin(start), { .bin(String($0.prefix { $0 != "." && !$0.isWhitespace })) }),
            (afterIdentifier(start), { .identifier($0) }), (afterLink(start), { .link($0) }),
            (afterLocation(start), { .location($0) }),
        ]
    }

    private func afterAssignment(_ start: Int) -> Int? {
        afterIdentifier(start).flatMap(afterEquals).flatMap(afterString)
    }

    private func afterPreset(_ start: Int) -> Int? {
        after("@preset", start).flatMap(afterEquals).flatMap(afterString)
    }

    private func afterPadReference(_ start: Int) -> Int? {
        after(".", start).flatMap(afterIdentifier)
    }

    private func afterReference(_ start: Int) -> Int? {
        afterIdentifier(start).flatMap { after(".", $0) }.map { afterIdentifier($0) ?? $0 }
    }

    private func afterBin(_ start: Int) -> Int? {
        afterIdentifier(start).map(afterSpace).flatMap { after(".", $0) }.map(afterSpace)
            .flatMap { after("(", $0) }
    }

    fileprivate func afterIdentifier(_ start: Int) -> Int? {
        guard isAlphanumeric(start) || at(start) == "_" else { return nil }
        return skip(start + 1) { isAlphanumeric($0) || at($0).map("-_%:".contains) == true }
    }

    fileprivate func afterEquals(_ start: Int) -> Int? {
        after("=", afterSpace(start)).map(afterSpace)
    }

    /// Matches non-space characters and spaces preceded by a backslash, or a quoted string,
    /// whichever is longer.
    private func afterString(_ start: Int) -> Int? {
        let bare = skip(start) { place in
            !isSpace(place) || place > start && at(place - 1) == "\\" && at(place) != "\n"
        }
        return [bare > start ? bare : nil, afterQuotes(start)].compactMap { $0 }.max()
    }

    fileprivate func afterQuotes(_ start: Int) -> Int? {
        guard let quote = at(start), quote == "\"" || quote == "'" else { return nil }
        var end: Int?
        for place in (start + 1)..<max(start + 1, text.count) where at(place) == quote {
            end = place + 1
            // A quote behind a backslash ends the string only if no other quote follows.
            if at(place - 1) != "\\" || place == start + 1 { break }
        }
        return end
    }

    /// Matches `!`, or `! caps !`. Caps contain anything but an unescaped `!`; an unescaped `;`
    /// must be followed by more caps.
    private func afterLink(_ start: Int) -> Int? {
        guard at(start) == "!" || at(start) == ":" else { return nil }
        guard var place = afterMediaType(afterSpace(start + 1)) else { return start + 1 }
        var end: Int?
        while let character = at(place) {
            let isEscaped = at(place - 1) == "\\"
            if character == "!" || character == ":" { end = place + 1 }
            if character == "!", !isEscaped { break }
            if character == ";", !isEscaped, at(place - 1) != "," {
                guard let next = afterMediaType(afterSpace(place + 1)) else { break }
                place = next
            } else {
                place += 1
            }
        }
        return end ?? start + 1
    }

    private func afterMediaType(_ start: Int) -> Int? {
        let isPart = { (place: Int) in isAlphanumeric(place) || at(place) == "-" }
        let slash = skip(start, while: isPart)
        guard slash > start, at(slash) == "/" else { return nil }
        let end = skip(slash + 1, while: isPart)
        return end > slash + 1 ? end : nil
    }

    /// Matches `protocol://anything`, `/anything`, and `/anything` behind one of a few characters,
    /// which is an error in GStreamer's rules.
    private func afterLocation(_ start: Int) -> Int? {
        let letter = at(start).map("\"._{}identifr".contains) == true ? start + 1 : start
        let path = [start, letter].compactMap { after("/", $0).flatMap(afterString) }.max()
        guard isLetter(start) else { return path }
        let name = skip(start + 1) { isAlphanumeric($0) || at($0).map("+,-.".contains) == true }
        let uri = after("://", name).map { afterString($0) ?? $0 }
        return [path, uri].compactMap { $0 }.max()
    }

    // MARK: Characters

    fileprivate func at(_ place: Int) -> Character? {
        text.indices.contains(place) ? Character(UnicodeScalar(text[place])) : nil
    }

    /// ASCII only: GStreamer reads bytes.
    private func isLetter(_ place: Int) -> Bool {
        text.indices.contains(place) && (65...90 ~= text[place] & 0xdf)
    }

    private func isAlphanumeric(_ place: Int) -> Bool {
        isLetter(place) || text.indices.contains(place) && (48...57 ~= text[place])
    }

    private func isSpace(_ place: Int) -> Bool {
        text.indices.contains(place) && (text[place] == 32 || 9...13 ~= text[place])
    }

    private func skip(_ start: Int, while isPart: (Int) -> Bool) -> Int {
        var place = start
        while place < text.count, isPart(place) { place += 1 }
        return place
    }

    private func afterSpace(_ start: Int) -> Int { skip(start, while: isSpace) }

    private func after(_ words: String, _ start: Int) -> Int? {
        let end = start + words.utf8.count
        guard start <= text.count, end <= text.count,
            text[start..<end].elementsEqual(words.utf8)
        else { return nil }
        return end
    }
}

// MARK: Chains

/// The chains of a string: sequences of elements and references with a link between each two.
/// Contains only what can be determined without making elements.
struct PipelineChains {
    /// One place in a chain.
    struct Node {
        /// The factory name of an element; `nil` for a reference (`mux.`, `mux.sink_0`).
        let factory: String?
        /// The name that the string gives to the element, or to which the reference refers.
        fileprivate(set) var name: String?
        /// The pad that a reference names; `nil` if it names none.
        fileprivate(set) var pad: String?
        /// Byte range in the text, including properties.
        fileprivate(set) var place: Range<Int>
        /// Caps in the link that follows the node; `nil` if there are none.
        fileprivate(set) var capsBehind: String?

        var isReference: Bool { factory == nil }
    }

    private(set) var chains: [[Node]] = []

    /// `nil` if the string has anything but elements, references and links: bins in parentheses.
    init?(_ text: String) {
        var lexer = PipelineLexer(Array(text.utf8))
        var isLinked = false
        func add(_ node: Node) {
            if isLinked, !chains.isEmpty {
                chains[chains.count - 1].append(node)
            } else {
                chains.append([node])
            }
            isLinked = false
        }
        func changeLast(_ change: (inout Node) -> Void) -> Bool {
            guard !isLinked, var last = chains.last?.last else { return false }
            change(&last)
            chains[chains.count - 1][chains[chains.count - 1].count - 1] = last
            return true
        }
        while let (token, place) = lexer.next() {
            switch token {
            case .identifier(let factory):
                add(Node(factory: factory, place: place))
            case .location:
                add(Node(factory: "", place: place))
            case .reference(let word):
                guard let dot = word.firstIndex(of: "."), dot != word.startIndex else { return nil }
                let pad = word[word.index(after: dot)...]
                add(
                    Node(
                        factory: nil, name: String(word[..<dot]),
                        pad: pad.isEmpty ? nil : String(pad), place: place))
            case .assignment(let word):
                guard
                    changeLast({ node in
                        node.place = node.place.lowerBound..<place.upperBound
                        if let (key, value) = PipelineText.property(word), key == "name" {
                            node.name = value
                        }
                    })
                else { return nil }
            case .preset:
                guard changeLast({ $0.place = $0.place.lowerBound..<place.upperBound }) else {
                    return nil
                }
            case .link(let link):
                let caps = link.dropFirst().dropLast(link.count > 1 ? 1 : 0)
                let isEmpty = caps.allSatisfy(\.isWhitespace)
                guard changeLast({ $0.capsBehind = isEmpty ? nil : String(caps) }) else {
                    return nil
                }
                isLinked = true
            case .bin, .other: return nil
            }
        }
        if isLinked { return nil }
    }

    /// Counts the references that link a source or sink pad of the element of that name. A
    /// reference that is a whole chain counts too: it is linked to the program.
    func uses(of name: String?, as direction: ElementFactory.Direction) -> Int {
        guard let name else { return 0 }
        return chains.reduce(0) { sum, chain in
            sum
                + chain.indices.count { index in
                    guard chain[index].isReference, chain[index].name == name else { return false }
                    switch direction {
                    case .source: return index + 1 < chain.count || chain.count == 1
                    case .sink: return index > 0 || chain.count == 1
                    }
                }
        }
    }

    /// Returns the element of that name.
    func element(of name: String?) -> Node? {
        chains.joined().first { !$0.isReference && $0.name == name }
    }
}
