/// Reads and changes session descriptions.
enum SessionDescription {
    /// Removes the feedback that the server offers but does not support. Janus ignores full intra
    /// requests (FIR), but GStreamer would request keyframes only by FIR: a loss would freeze the
    /// video permanently. Janus ignores reports on the packets it sends, and GStreamer would send
    /// twenty of them a second.
    static func withoutUnusedFeedback(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline)
            .filter { line in
                guard line.hasPrefix("a=rtcp-fb:") else {
                    return !(line.hasPrefix("a=extmap:") && line.contains("transport-wide-cc"))
                }
                let kind = line.split(whereSeparator: \.isWhitespace).dropFirst()
                return !kind.starts(with: ["ccm", "fir"]) && kind.first != "transport-cc"
            }
            .map { "\($0)\r\n" }.joined()
    }

    /// Returns the `mid` of the first stream of a kind, `video` or `audio`; `nil` if there is none.
    static func mid(of kind: String, in text: String) -> String? {
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("m=") {
                if isInside { return nil }
                isInside = line.hasPrefix("m=\(kind) ")
            }
            if isInside, line.hasPrefix("a=mid:") {
                return String(line.dropFirst(6).prefix { !$0.isWhitespace })
            }
        }
        return nil
    }
}
