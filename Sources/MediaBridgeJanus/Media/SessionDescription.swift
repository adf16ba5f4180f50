/// What this library reads and changes in session descriptions.
enum SessionDescription {
    /// Returns a description without what the server offers and does not do. It ignores full intra requests,
    /// but GStreamer would ask for key frames by them alone: a loss would freeze the picture for good. It takes
    /// reports on packets of what it sends for nothing, and GStreamer would send twenty a second.
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
