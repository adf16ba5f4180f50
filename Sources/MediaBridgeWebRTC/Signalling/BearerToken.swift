/// Tokens in `Authorization: Bearer` headers.
enum BearerToken {
    /// Whether a token can be sent in a header: printable ASCII without spaces, up to 4096 characters.
    static func isValid(_ token: String) -> Bool {
        (1...4096).contains(token.utf8.count)
            && token.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// Returns whether a header contains the token. The time this takes does not depend on how much
    /// of the token is correct.
    ///
    /// - Parameters:
    ///   - token: The correct token.
    ///   - authorization: The value of `Authorization`; `nil` if there is none.
    static func matches(_ token: String, _ authorization: String?) -> Bool {
        guard let authorization else { return false }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        let (right, given) = (Array(token.utf8), Array(parts[1].utf8))
        guard !right.isEmpty else { return false }
        // Every byte of the given token is compared, even after a mismatch.
        var difference = right.count ^ given.count
        for (index, byte) in given.enumerated() {
            difference |= Int(byte ^ right[index % right.count])
        }
        return difference == 0
    }
}
