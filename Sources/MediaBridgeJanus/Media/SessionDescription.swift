/// What this library reads and changes in session descriptions.
enum SessionDescription {
    /// Returns a description without the server's claim to take full intra requests. GStreamer would ask
    /// for key frames by them alone, and Janus ignores them: a loss would freeze the picture for good.
    static func withoutFullIntraRequests(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline)
            .filter { line in
                guard line.hasPrefix("a=rtcp-fb:") else { return true }
                return !line.split(whereSeparator: \.isWhitespace).dropFirst()
                    .starts(with: ["ccm", "fir"])
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
