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
