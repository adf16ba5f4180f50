/// A session description, as far as WebRTC uses it.
///
/// Source: RFC 8866 (SDP) and RFC 8829 (its use by WebRTC).
package struct SessionDescription: Sendable {
    /// An attribute line: `a=NAME` or `a=NAME:VALUE`.
    package struct Attribute: Hashable, Sendable {
        package var name: String
        /// Empty for an attribute without a value.
        package var value: String
    }

    /// The attributes in front of the first m-line.
    package var attributes: [Attribute] = []
    /// The m-lines, in order.
    package var media: [MediaSection] = []

    /// The largest description that is read, in bytes.
    package static let maximumSize = 262_144
    /// The most m-lines that are read.
    package static let maximumSections = 64
    /// The most attributes of the session, or of one m-line, that are read.
    static let maximumAttributes = 2_000

    /// Parses a description. What WebRTC does not use is skipped.
    ///
    /// - Throws: ``PeerError/Code/badDescription`` with the number of the line.
    package init(_ text: String) throws(PeerError) {
        guard text.utf8.count <= Self.maximumSize else {
            throw Self.bad("it has \(text.utf8.count) bytes, more than \(Self.maximumSize)")
        }
        let lines = text.split(omittingEmptySubsequences: false) {
            $0 == "\n" || $0 == "\r\n" || $0 == "\r"
        }
        guard lines.first == "v=0" else { throw Self.bad("line 1 is not \"v=0\"") }
        for (index, line) in lines.enumerated() where !line.isEmpty {
            let characters = line.utf8
            guard characters.count >= 2,
                characters[characters.index(after: characters.startIndex)] == UInt8(ascii: "=")
            else { throw Self.bad("line \(index + 1) is not TYPE=VALUE") }
            let value = line.dropFirst(2)
            switch line.first {
            case "m":
                guard media.count < Self.maximumSections else {
                    throw Self.bad("it has more than \(Self.maximumSections) m-lines")
                }
                guard let section = MediaSection(value) else {
                    throw Self.bad("line \(index + 1) is not a WebRTC m-line")
                }
                media.append(section)
            case "a":
                let parts = value.split(
                    separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                let attribute = Attribute(
                    name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
                if media.isEmpty {
                    attributes.append(attribute)
                } else {
                    media[media.count - 1].attributes.append(attribute)
                }
                guard (media.last?.attributes ?? attributes).count <= Self.maximumAttributes else {
                    throw Self.bad("one section has more than \(Self.maximumAttributes) attributes")
                }
            default: break
            }
        }
    }

    private static func bad(_ reason: String) -> PeerError {
        PeerError(
            .badDescription, message: "invalid session description: \(reason)",
            advice: "send the unchanged result of createOffer or createAnswer of a WebRTC library")
    }

    /// Returns an attribute of an m-line, or else that of the session.
    package func value(of name: String, in section: MediaSection) -> String? {
        section.value(of: name) ?? attributes.first { $0.name == name }?.value
    }
}

/// The text of a candidate of ICE.
///
/// Source: RFC 8839, section 5.1.
enum CandidateText {
    /// Whether a candidate is one of ICE whose address is a number. Names (`….local`) hide the address
    /// from pages; peers behind them are found by their own checks.
    static func isUsable(_ text: String) -> Bool {
        let words = text.split(separator: " ")
        guard words.count >= 8, words.count <= 40, text.utf8.count <= 512,
            words[0].hasPrefix("candidate:"), words[0].dropFirst(10).isToken("+/"),
            words[1] == "1" || words[1] == "2", ["udp", "tcp"].contains(words[2].lowercased()),
            UInt32(words[3]) != nil, words[4].contains(where: { $0 == "." || $0 == ":" }),
            words[4].utf8.allSatisfy({
                Character(UnicodeScalar($0)).isHexDigit || $0 == UInt8(ascii: ".")
                    || $0 == UInt8(ascii: ":")
            }), UInt16(words[5]) != nil, words[6] == "typ",
            ["host", "srflx", "prflx", "relay"].contains(words[7])
        else { return false }
        return words[8...].allSatisfy { $0.isToken("+/=-_.:") }
    }
}
