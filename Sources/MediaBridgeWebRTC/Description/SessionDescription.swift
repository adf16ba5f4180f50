internal import MediaBridge

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

    /// The maximum size of a description, in bytes.
    package static let maximumSize = 262_144
    /// The maximum number of m-lines.
    package static let maximumSections = 64
    /// The maximum number of attributes of the session, or of one m-line.
    static let maximumAttributes = 2_000

    /// Parses a description. Lines that WebRTC does not use are skipped.
    ///
    /// - Throws: `PipelineError.Code.badDescription` with the number of the line.
    package init(_ text: String) throws(PipelineError) {
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

    private static func bad(_ reason: String) -> PipelineError {
        PipelineError(
            .badDescription, message: "invalid session description: \(reason)",
            advice: "send the unchanged result of createOffer or createAnswer of a WebRTC library")
    }

    /// Returns an attribute of an m-line, or else that of the session.
    package func value(of name: String, in section: MediaSection) -> String? {
        section.value(of: name) ?? attributes.first { $0.name == name }?.value
    }
}

// MARK: - MediaSection

/// An m-line and its attributes.
package struct MediaSection: Sendable {
    /// The media kind of an m-line.
    package enum Kind: String, Sendable {
        case audio, video
        /// A data channel.
        case application
    }

    /// The kind; `nil` for a kind that WebRTC does not use.
    package let kind: Kind?
    /// The first word of the line.
    let name: String
    /// The port; its value has no meaning unless the stream is refused.
    package let port: Int
    /// The transport: `UDP/TLS/RTP/SAVPF`.
    let transport: String
    /// The payload types, or format names.
    let formats: [String]
    /// The attributes, in order.
    package var attributes: [SessionDescription.Attribute] = []

    /// Parses the text after `m=`; `nil` if it has too few words or invalid characters.
    init?(_ text: Substring) {
        let words = text.split(separator: " ")
        guard words.count >= 4, words.count <= 260, words.allSatisfy({ $0.isToken("/-_.") }),
            let port = Int(words[1].prefix { $0 != "/" }), (0...65_535).contains(port)
        else { return nil }
        name = String(words[0])
        kind = Kind(rawValue: name)
        self.port = port
        transport = String(words[2])
        formats = words[3...].map(String.init)
    }

    /// Returns the value of the first attribute of that name; `nil` if there is none.
    package func value(of name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// Returns the values of all attributes of that name.
    func values(of name: String) -> [String] {
        attributes.lazy.filter { $0.name == name }.map(\.value)
    }

    /// The `mid` of the m-line, by which candidates refer to it; `nil` if it is missing or not a
    /// token.
    package var mid: String? {
        value(of: "mid").flatMap { $0.isToken("-_.+") && $0.utf8.count <= 64 ? $0 : nil }
    }

    /// Whether the stream is refused: a port of zero without `bundle-only` (RFC 9143).
    package var isRefused: Bool { port == 0 && !has("bundle-only") }

    /// Whether the peer sends. Without a direction attribute, it sends and receives.
    package var isSending: Bool { !has("recvonly") && !has("inactive") && !isRefused }
    /// Whether the peer receives.
    package var isReceiving: Bool { !has("sendonly") && !has("inactive") && !isRefused }

    private func has(_ name: String) -> Bool { attributes.contains { $0.name == name } }

    /// The RTP formats in the peer's order of preference.
    package var payloads: [PayloadFormat] {
        let table = PayloadTable(attributes)
        var seen: Set<UInt8> = []
        return formats.compactMap { format in
            guard let number = UInt8(format), number < 128, seen.insert(number).inserted else {
                return nil
            }
            return table.format(number)
        }
    }
}

/// The attributes of an m-line that describe its payload types, parsed in one pass: the peer
/// controls the attributes, and a search for each of 128 types would multiply the work.
struct PayloadTable {
    private var maps: [UInt8: Substring] = [:]
    private var parameters: [UInt8: Substring] = [:]
    private var feedback: [UInt8: Set<String>] = [:]
    /// The feedback for all types: `a=rtcp-fb:* nack`.
    private var commonFeedback: Set<String> = []

    init(_ attributes: some Sequence<SessionDescription.Attribute>) {
        for attribute in attributes {
            let name = attribute.name
            guard name == "rtpmap" || name == "fmtp" || name == "rtcp-fb" else { continue }
            let words = attribute.value.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { continue }
            if name == "rtcp-fb", PayloadFormat.usedFeedback.contains(String(words[1])) {
                if words[0] == "*" { commonFeedback.insert(String(words[1])) }
                if let number = UInt8(words[0]) {
                    feedback[number, default: []].insert(String(words[1]))
                }
            } else if let number = UInt8(words[0]) {
                if name == "rtpmap", maps[number] == nil { maps[number] = words[1] }
                if name == "fmtp", parameters[number] == nil { parameters[number] = words[1] }
            }
        }
    }

    /// Returns the format of a payload type; `nil` if the attributes do not define it.
    func format(_ number: UInt8) -> PayloadFormat? {
        PayloadFormat(
            number: Int(number), map: maps[number], parameters: parameters[number],
            feedback: commonFeedback.union(feedback[number] ?? []))
    }
}

/// An RTP payload type and its format.
package struct PayloadFormat: Hashable, Sendable {
    /// The payload type, 0 to 127.
    package let number: Int
    /// The name of the encoding, in capital letters: `H264`.
    package let encoding: String
    /// The rate of its clock, in Hz.
    package let clockRate: Int
    /// The parameters of `a=fmtp`, names in lower case.
    package let parameters: [String: String]
    /// The feedback that the peer supports, limited to the kinds in use: `nack pli`.
    let feedback: Set<String>

    /// The kinds of feedback in use, in the order in which they are written.
    static let usedFeedback = ["nack", "nack pli", "goog-remb", "transport-cc"]

    /// `nil` if the numbers are out of range, or if a dynamic type has no `a=rtpmap`.
    init?(number: Int, map: Substring?, parameters: Substring?, feedback: Set<String>) {
        let text = map ?? Self.fixed[number].map { Substring($0) }
        guard let parts = text?.split(separator: "/"), parts.count >= 2,
            parts[0].isToken("-_.+"), let rate = Int(parts[1]), (1...1_000_000).contains(rate)
        else { return nil }
        self.number = number
        encoding = parts[0].uppercased()
        clockRate = rate
        var values: [String: String] = [:]
        for parameter in (parameters ?? "").split(separator: ";").prefix(64) {
            let words = parameter.split(separator: "=", maxSplits: 1)
            guard words.count == 2 else { continue }
            let name = words[0].filter { $0 != " " }.lowercased()
            values[name] = String(words[1].filter { $0 != " " })
        }
        self.parameters = values
        self.feedback = feedback
    }

    /// Static payload types (RFC 3551).
    private static let fixed = [0: "PCMU/8000", 8: "PCMA/8000"]

    /// The payload type that this one retransmits (RFC 4588); `nil` for any other.
    var resends: Int? { encoding == "RTX" ? parameters["apt"].flatMap { Int($0) } : nil }
}

// MARK: - Text

/// The text of an ICE candidate.
///
/// Source: RFC 8839, section 5.1.
enum CandidateText {
    /// Whether the text is a UDP candidate with an IP address. Candidates with a host name (`….local`)
    /// hide the address from pages; the connectivity checks of such peers reveal it. TCP candidates would
    /// let a peer open connections from this machine to any address and port.
    static func isUsable(_ text: String) -> Bool {
        let words = text.split(separator: " ")
        guard words.count >= 8, words.count <= 40, text.utf8.count <= 512,
            words[0].hasPrefix("candidate:"), words[0].dropFirst(10).isToken("+/"),
            words[1] == "1" || words[1] == "2", words[2].lowercased() == "udp",
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

extension StringProtocol {
    /// Whether the text is not empty and consists only of ASCII letters, ASCII digits and the given
    /// other characters.
    func isToken(_ others: String) -> Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: others.utf8.contains(byte)
                }
            }
    }
}
