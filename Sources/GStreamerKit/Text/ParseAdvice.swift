internal import CMediaBridge

/// Advice for a string that GStreamer rejects: the probable intention, as far as the registry and
/// the elements' properties show it.
struct ParseAdvice {
    private let text: PipelineText

    init(_ text: PipelineText) { self.text = text }

    /// - Parameter message: GStreamer's message, which has names in double quotes, in any language.
    func advice(for code: PipelineError.Code, _ message: String) -> String? {
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        let quoted = parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
        guard quoted.count >= 2 else { return nil }
        guard code == .noSuchProperty || code == .badValue, let element = make(quoted[1]) else {
            return nil
        }
        if code == .noSuchProperty { return element.adviceForProperty(quoted[0]) }
        return element.settableProperties.first { $0.name == quoted[0] }?
            .advice(for: quoted.count > 2 ? quoted[2] : "")
    }

    /// Makes an element; the parser of the string has just made one of this factory, too.
    private func make(_ factory: String) -> Element? {
        guard let made = gst_element_factory_make(factory, nil) else { return nil }
        gst_object_ref_sink(made)
        return Element(adopting: made)
    }

    /// Advice for caps with a format that is none; `nil` if all are known.
    var adviceForFormats: String? {
        for word in text.words {
            guard PipelineText.isCaps(word),
                let found = word.firstMatch(of: /format=(?:\([^)]*\))?([\p{L}\p{N}_]+)/)
            else { continue }
            let format = String(found.1)
            let isSound = word.hasPrefix("audio/")
            let known = isSound ? Self.soundFormats : Self.pictureFormats
            guard !known.contains(format) else { continue }
            let nearest = known.first { $0.hasPrefix(format) }
            let meant =
                (nearest ?? Spelling.nearest(to: format, among: known)).map { "format=\($0); " }
                ?? ""
            return "\(meant)there is no format \(format)"
        }
        return nil
    }

    private static let pictureFormats = (0..<UInt32(200)).compactMap { number -> String? in
        let format = GstVideoFormat(rawValue: number)
        guard format != GST_VIDEO_FORMAT_UNKNOWN else { return nil }
        return gst_video_format_to_string(format).map { String(cString: $0) }
    }

    private static let soundFormats = (0..<UInt32(64)).compactMap { number -> String? in
        let format = GstAudioFormat(rawValue: number)
        guard format != GST_AUDIO_FORMAT_UNKNOWN else { return nil }
        return gst_audio_format_to_string(format).map { String(cString: $0) }
    }

    /// - Parameter name: A name that no element of the string has.
    func advice(forUnknown name: String) -> String {
        if let quoted = text.valueWithSpace(before: name) { return quoted }
        if let meant = Spelling.nearest(to: name, among: text.elementNames) { return "\(meant)." }
        return "put name=\(name) after the element that it refers to"
    }
}

// MARK: Syntax errors

/// The position of a syntax error in a string, and its reason; GStreamer's parser only reports
/// "syntax error".
///
/// The grammar is that of GStreamer's `grammar.y`: chains of elements with links between them, in
/// parentheses or not, that begin and end with an element, an address or a reference to a name.
struct SyntaxFault {
    let reason: String
    let advice: String
    /// Byte offset from which the string is quoted; `nil` for the token itself, or the end.
    var start: Int?
    /// The string from the error on or, if it ends too early, its last words.
    private var place = ""

    fileprivate init(reason: String, advice: String, start: Int? = nil) {
        (self.reason, self.advice, self.start) = (reason, advice, start)
    }

    var message: String {
        let quote = place.contains("\"") ? "'" : "\""
        return "at \(quote)\(place)\(quote): \(reason)"
    }

    /// Returns the first error; `nil` if the string conforms to the grammar.
    static func first(in text: PipelineText) -> SyntaxFault? {
        var reader = GrammarReader()
        var lexer = PipelineLexer(Array(text.parsable.utf8))
        while let (token, range) = lexer.next() {
            if var fault = reader.read(token, at: range.lowerBound) {
                fault.place = lexer.excerpt(from: fault.start ?? range.lowerBound)
                return fault
            }
        }
        guard var fault = reader.faultAtEnd else { return nil }
        fault.place = fault.start.map { lexer.excerpt(from: $0) } ?? lexer.end
        return fault
    }
}

/// Reads tokens and checks which may come next.
private struct GrammarReader {
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
    mutating func read(_ token: PipelineText.Token, at start: Int) -> SyntaxFault? {
        defer { previous = start }
        if place == .comma {
            guard case .identifier = token else {
                return SyntaxFault(
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
                return SyntaxFault(
                    reason: "a ) without a (", advice: "remove it, or add the (")
            }
            place = .bin
        case .other:
            return unexpected(token)
        }
        return nil
    }

    private mutating func reference(_ text: String) -> SyntaxFault? {
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

    private mutating func link() -> SyntaxFault? {
        switch place {
        case .element, .bin, .pads, .address, .reference:
            place = .link
            return nil
        case .link:
            return SyntaxFault(
                reason: "two ! with nothing between them", advice: "remove one !",
                start: previous)
        case .chain, .opened:
            return SyntaxFault(
                reason: "a ! with nothing before it",
                advice: "put an element before it, or remove it")
        case .linkPads: return dangling("before the next !")
        case .lastReference, .ended, .comma:
            return SyntaxFault(
                reason: "a ! after the end of a chain: a word with a dot ends a chain",
                advice:
                    "put a tee or a queue after the element that it refers to, and continue there")
        }
    }

    private func dangling(_ side: String) -> SyntaxFault {
        SyntaxFault(
            reason: "a ! without an element \(side)",
            advice: "put an element after it, or remove it")
    }

    private func unexpected(_ token: PipelineText.Token) -> SyntaxFault {
        switch token {
        case .assignment(let text):
            let key = text.prefix { $0 != "=" }
            return SyntaxFault(
                reason: "a property that belongs to no element",
                advice: "put \(key)=… directly after its element, with no ! between them")
        case .preset:
            return SyntaxFault(
                reason: "a preset that belongs to no element", advice: "put it after its element")
        case .other(let character) where "\"'".contains(character):
            return SyntaxFault(
                reason: "a misplaced quote, or one that is never closed",
                advice: "put quotes around the value of a property, or around caps between two !")
        case .other(","):
            return SyntaxFault(
                reason: "a comma outside of caps",
                advice: "put caps between two !, beginning with their type: video/x-raw,width=320")
        case .other(let character):
            return SyntaxFault(
                reason: "GStreamer accepts no \"\(character)\" here",
                advice: "remove it, or quote it if it belongs to a property's value")
        default:
            return SyntaxFault(
                reason: "something that cannot be linked", advice: "put an element in its place")
        }
    }

    /// The error if the string ends here; `nil` if it may end.
    var faultAtEnd: SyntaxFault? {
        switch place {
        case .link, .linkPads: return dangling("after it")
        case .comma:
            return SyntaxFault(
                reason: "a comma without a pad name after it", advice: "remove the comma")
        default: break
        }
        return brackets.last.map {
            SyntaxFault(
                reason: "a ( that is never closed", advice: "put a ) after its last element",
                start: $0)
        }
    }
}

extension PipelineLexer {
    /// Returns the first words from an offset on.
    fileprivate func excerpt(from start: Int) -> String {
        let words = words(from: start)
        return words.count > 4
            ? words.prefix(3).joined(separator: " ") + " …" : words.joined(separator: " ")
    }

    /// The last words, at most four.
    fileprivate var end: String { words(from: 0).suffix(4).joined(separator: " ") }
}
