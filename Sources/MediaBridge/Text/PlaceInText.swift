/// A position in a gst-launch string, by the rules of GStreamer's own lexer. What may be written at
/// a position depends on its kind.
///
/// Quotes are special only at the beginning of a property's value (`text=it's` opens none), and
/// caps extend from their media type to the next `!`, white space included.
struct PlaceInText {
    enum Kind: Equatable {
        /// In or before a word that is not a property's value: a factory, a pad, a property's name.
        case word
        /// In a caps filter.
        case caps
        /// Directly after the `=` of a property.
        case valueStart
        /// In a value without quotes.
        case value
        /// In a value in quotes.
        case quoted(Unicode.Scalar)
    }
    private(set) var kind = Kind.word

    /// Whether quotes were opened in the middle of a value: GStreamer then keeps backslashes.
    private(set) var isInStrayQuotes = false

    private var isEscaped = false
    /// Whether the word so far can be a property's name.
    private var canBeName = true

    mutating func advance(over text: String) {
        for scalar in text.unicodeScalars { advance(over: scalar) }
    }

    private mutating func advance(over scalar: Unicode.Scalar) {
        if isEscaped {
            isEscaped = false
            return
        }
        switch kind {
        case .word: advanceInWord(over: scalar)
        case .caps:
            if scalar == "!" { begin(.word) }
        case .valueStart:
            if scalar == "\"" || scalar == "'" {
                kind = .quoted(scalar)
            } else if !scalar.isASCIISpace {
                kind = .value
                isEscaped = scalar == "\\"
            }
        case .value:
            if scalar.isASCIISpace {
                begin(.word)
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isInStrayQuotes.toggle()
            }
        case .quoted(let quote):
            if scalar == "\\" {
                isEscaped = true
            } else if scalar == quote {
                begin(.word)
                // A word that directly follows a closing quote is not a property's name.
                canBeName = false
            }
        }
    }

    private mutating func advanceInWord(over scalar: Unicode.Scalar) {
        switch scalar {
        case "=": if canBeName { begin(.valueStart) }
        case "/": begin(.caps)
        case "!": begin(.word)
        case "\\": isEscaped = true
        case _ where scalar.isASCIISpace: canBeName = true
        case "\"", "'", ",": canBeName = false
        default: break
        }
    }

    private mutating func begin(_ kind: Kind) {
        self.kind = kind
        isInStrayQuotes = false
        canBeName = true
    }
}

extension Unicode.Scalar {
    /// Whether the character separates words in gst-launch, which treats other white space as
    /// letters.
    var isASCIISpace: Bool { self == " " || ("\t"..."\r").contains(self) }
}
