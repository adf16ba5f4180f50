internal import CMediaBridge

extension PipelineError {
    /// Converts a GError to a `PipelineError` and frees the GError.
    init(
        adopting error: UnsafeMutablePointer<GError>?, element: String? = nil,
        debug: String? = nil, missing: MissingPlugin? = nil
    ) {
        guard let error else {
            self.init(.elementFailed, element: element, message: "an error without a message")
            return
        }
        defer { g_error_free(error) }
        let domain = error.pointee.domain
        let code = Int(error.pointee.code)
        self.init(
            Self.code(domain: domain, code: code), element: element,
            domain: g_quark_to_string(domain).map { String(cString: $0) }, domainCode: code,
            message: String(cString: error.pointee.message), debug: debug)
        if let missing, self.code == .missingElement || self.code == .streamFailed {
            self.code = .missingElement
            advice = missing.advice
        } else {
            advice =
                debug?.contains("not-negotiated") == true
                ? "put videoconvert or audioconvert before the element that refused the format, "
                    + "or check the caps"
                : Self.advice(forSoundServer: debug) ?? Self.advice(forCapsIn: self)
                    ?? Self.advice(for: self.code)
        }
    }

    private static func code(domain: GQuark, code: Int) -> Code {
        if domain == gst_parse_error_quark() {
            return parseCodes[code] ?? .syntax
        } else if domain == gst_resource_error_quark() {
            switch GstResourceError(UInt32(code)) {
            case GST_RESOURCE_ERROR_NOT_FOUND: return .notFound
            case GST_RESOURCE_ERROR_NO_SPACE_LEFT: return .noSpaceLeft
            default: return .resourceFailed
            }
        } else if domain == gst_stream_error_quark() {
            return GstStreamError(UInt32(code)) == GST_STREAM_ERROR_CODEC_NOT_FOUND
                ? .missingElement : .streamFailed
        } else if domain == gst_core_error_quark() {
            switch GstCoreError(UInt32(code)) {
            case GST_CORE_ERROR_MISSING_PLUGIN: return .missingElement
            case GST_CORE_ERROR_NEGOTIATION: return .streamFailed
            case GST_CORE_ERROR_STATE_CHANGE: return .stateChangeFailed
            default: return .elementFailed
            }
        }
        return .elementFailed
    }

    /// Whether a device or a server did not answer, as it may do later.
    package var isAbsence: Bool {
        guard domain == g_quark_to_string(gst_resource_error_quark()).map({ String(cString: $0) })
        else { return false }
        let codes = [
            GST_RESOURCE_ERROR_NOT_FOUND, GST_RESOURCE_ERROR_FAILED, GST_RESOURCE_ERROR_BUSY,
            GST_RESOURCE_ERROR_OPEN_READ, GST_RESOURCE_ERROR_OPEN_READ_WRITE,
            GST_RESOURCE_ERROR_READ,
        ]
        return codes.contains { Int($0.rawValue) == domainCode }
    }

    private static let parseCodes: [Int: Code] = [
        Int(GST_PARSE_ERROR_SYNTAX.rawValue): .syntax,
        Int(GST_PARSE_ERROR_NO_SUCH_ELEMENT.rawValue): .missingElement,
        Int(GST_PARSE_ERROR_NO_SUCH_PROPERTY.rawValue): .noSuchProperty,
        Int(GST_PARSE_ERROR_LINK.rawValue): .linkFailed,
        Int(GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY.rawValue): .badValue,
        Int(GST_PARSE_ERROR_EMPTY_BIN.rawValue): .syntax,
        Int(GST_PARSE_ERROR_EMPTY.rawValue): .syntax,
        Int(GST_PARSE_ERROR_DELAYED_LINK.rawValue): .linkFailed,
    ]

    /// "Connection refused" alone does not say to what.
    private static func advice(forSoundServer debug: String?) -> String? {
        guard
            let end = ["src", "sink"].first(where: { debug?.contains("gst_pulse\($0)_") == true })
        else { return nil }
        return "start PulseAudio or PipeWire's pulse server, or use alsa\(end)"
    }

    /// Caps that cannot be parsed are reported as a failed link.
    private static func advice(forCapsIn error: PipelineError) -> String? {
        let parts = error.message.split(separator: "\"", omittingEmptySubsequences: false)
        guard error.code == .linkFailed, parts.count > 2, (try? Caps(String(parts[1]))) == nil
        else { return nil }
        return "check the caps; \"!\" must follow them"
    }

    private static func advice(for code: Code) -> String? {
        switch code {
        case .noSpaceLeft: "free space on that disk, or write elsewhere; written data is kept"
        case .notFound: "check the path, device or address"
        case .noSuchProperty, .badValue: "gst-inspect-1.0 lists an element's properties and values"
        case .linkFailed:
            "put videoconvert, audioconvert or a parser between the two, or check the caps"
        case .syntax: "a string that gst-launch-1.0 accepts"
        default: nil
        }
    }
}

/// What GStreamer reports as missing, in a `missing-plugin` message or while parsing.
struct MissingPlugin: Sendable {
    /// The kinds, as a `missing-plugin` message names them.
    enum Kind: String, Sendable { case element, decoder, encoder, uriSource = "urisource", other }
    let kind: Kind
    /// An element's name, a media type, or a URI scheme.
    let name: String

    var advice: String {
        if kind == .element, let advice = DebianPackage.adviceForHardware(name) { return advice }
        if let package = DebianPackage.providing(self) { return "apt install \(package)" }
        if kind == .element, let meant = Spelling.nearest(to: name, among: ElementFactory.names) {
            return meant
        }
        if kind == .element, let meant = Spelling.nearest(to: name, among: DebianPackage.elements),
            let package = DebianPackage.providing(element: meant)
        {
            return "\(meant) (apt install \(package))"
        }
        return kind == .element
            ? "check the spelling: no known package of Debian 12 has an element \"\(name)\"; "
                + "for a plugin of your own, GST_PLUGIN_PATH with its directory"
            : "no known Debian package of GStreamer handles \(name)"
    }
}

// MARK: Spelling

/// Suggestions for misspelt names.
package enum Spelling {
    /// Returns the element of `words` that is nearest to `word`, or `nil` if none is near enough:
    /// one letter, or up to a third of the letters of `word`, may be wrong, missing, added, or
    /// swapped with a neighbour.
    package static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().unicodeScalars)
        let limit = max(1, letters.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in words where candidate != word {
            let other = Array(candidate.lowercased().unicodeScalars)
            guard abs(other.count - letters.count) <= limit else { continue }
            let found = distance(letters, other)
            guard found <= limit else { continue }
            // Of two candidates at the same distance the alphabetically first wins, so that the
            // result is always the same.
            if best.map({ (found, candidate) < ($0.distance, $0.word) }) ?? true {
                best = (candidate, found)
            }
        }
        return best?.word
    }

    /// Returns the number of letters to replace, insert, delete or swap with a neighbour (optimal
    /// string alignment distance).
    private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + Array(repeating: 0, count: b.count)
            for j in 1...b.count {
                let cost = a[i - 1] == b[j - 1] ? 0 : 1
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
