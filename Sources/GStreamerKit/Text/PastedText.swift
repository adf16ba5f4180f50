/// Converts a string to the form in which a shell passes it to gst-launch-1.0.
///
/// Strings are copied from documentation, where they are written for a shell, and pasted into
/// quotes or into a file, which no shell reads. Only those of the shell's rules are applied that
/// have no meaning for GStreamer's parser: a backslash at the end of a line, `\!` and `'!'`, `\(`
/// and `\)`, single quotes around values and types, and the program with its options in front. A
/// string without them is not changed.
///
/// Source: POSIX, Shell Command Language, 2.2 Quoting; the options of gst-launch-1.0(1).
enum PastedText {
    /// - Returns: The words of the string. The value of a property in single quotes is returned in
    ///   double quotes, which GStreamer's parser removes.
    static func words(of text: String) -> [String] {
        let words = PipelineText.split(text, joinsLines: true).map(unquoted)
        return withoutProgram(words).filter { !isOption($0) }
    }

    private static func unquoted(_ word: String) -> String {
        switch word {
        case "\\!", "'!'", "\"!\"": return "!"
        case "\\(", "'('", "\"(\"": return "("
        case "\\)", "')'", "\")\"": return ")"
        default: break
        }
        if let equals = word.firstIndex(of: "="), !word[..<equals].contains("/") {
            return assignment(word, equals)
        }
        return word.contains("/") && !word.hasPrefix("/") ? caps(word) : word
    }

    /// Converts `location='a b'` to `location="a b"`: the parser removes only double quotes from a
    /// value.
    private static func assignment(_ word: String, _ equals: String.Index) -> String {
        let value = word[word.index(after: equals)...]
        guard value.count >= 2, value.first == "'", value.last == "'",
            !value.dropFirst().dropLast().contains("'")
        else {
            // A field of caps that are written with spaces after the commas.
            if ["\\(", "'(", "\"("].contains(where: { value.hasPrefix($0) }) { return caps(word) }
            return joined(value).map { "\(word[...equals])\"\($0)\"" } ?? word
        }
        let inside = value.dropFirst().dropLast().flatMap { character in
            character == "\\" || character == "\"" ? ["\\", character] : [character]
        }
        return "\(word[...equals])\"\(String(inside))\""
    }

    /// Returns what a shell makes of `"a film"_small.mp4`: a word that begins with a quoted part and
    /// goes on behind it; `nil` for any other.
    private static func joined(_ value: Substring) -> String? {
        guard let first = value.first, "'\"".contains(first), !value.contains("\\") else {
            return nil
        }
        var (parts, rest) = ([Substring](), value)
        while let next = rest.first {
            guard "'\"".contains(next) else {
                let bare = rest.prefix { !"'\"".contains($0) }
                parts.append(bare)
                rest = rest[bare.endIndex...]
                continue
            }
            guard let end = rest.dropFirst().firstIndex(of: next) else { return nil }
            parts.append(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        }
        guard parts.count > 1 else { return nil }
        return parts.joined().replacing("\"", with: "\\\"")
    }

    /// Removes what a shell removes from `framerate='(fraction)'5/1` and
    /// `framerate=\(fraction\)5/1`.
    private static func caps(_ word: String) -> String {
        var result = word.replacing("\\(", with: "(").replacing("\\)", with: ")")
        for quote in ["'", "\""] {
            result = result.replacing("\(quote)(", with: "(").replacing(")\(quote)", with: ")")
        }
        return result
    }

    // MARK: Cut-off links

    /// Returns the words without a `!` at either end: `videoconvert !` and `! fakesink` are parts
    /// of a string that was cut at the link. If there is nothing else, all words are kept.
    static func withoutCut(_ words: [String]) -> [String] {
        var kept = words[...]
        while kept.first == "!" { kept.removeFirst() }
        while kept.last == "!" { kept.removeLast() }
        guard !kept.isEmpty else { return words }
        var result = Array(kept)
        if let first = result.first, first.first == "!", isName(first.dropFirst()) {
            result[0].removeFirst()
        }
        if let last = result.last, last.last == "!", isName(last.dropLast()) {
            result[result.count - 1].removeLast()
        }
        return result
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
    }

    // MARK: The program

    private static func withoutProgram(_ words: [String]) -> [String] {
        // The program may follow a prompt, an environment variable, sudo or time.
        guard let place = words.prefix(5).firstIndex(where: isProgram),
            words[..<place].allSatisfy({
                ["$", "#", "sudo", "time"].contains($0) || $0.contains("=") && !$0.contains("/")
            })
        else { return words }
        return Array(words[(place + 1)...])
    }

    private static func isProgram(_ word: String) -> Bool {
        let name = word.split(separator: "/").last.map(String.init) ?? word
        return ["gst-launch", "gst-launch-1.0", "gst-launch-0.10", "gst-launch-1.0.exe"]
            .contains(name)
    }

    /// Whether it is an option of gst-launch-1.0: no element, property or link begins with a dash.
    private static func isOption(_ word: String) -> Bool {
        if word.hasPrefix("--") {
            let name = word.dropFirst(2).prefix { $0 != "=" }
            return name.hasPrefix("gst-")
                || [
                    "verbose", "eos-on-shutdown", "quiet", "messages", "tags", "toc", "no-fault",
                    "index", "force", "no-position",
                ].contains(name)
        }
        return word.count > 1 && word.first == "-"
            && word.dropFirst().allSatisfy { "veqmtcfi".contains($0) }
    }
}
