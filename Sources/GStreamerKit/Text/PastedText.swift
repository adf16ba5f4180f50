/// A string as a shell would hand it to gst-launch-1.0.
///
/// Strings are copied from documentation, where they stand as a shell reads them, and pasted into quotes or
/// into a file, where no shell reads them. Of the shell's rules those are applied that mean nothing to
/// GStreamer's parser: a backslash at the end of a line, `\!` and `'!'`, `\(` and `\)`, single quotes around
/// values and types, and the program with its options in front. A string without them stays as it is.
///
/// Source: POSIX, Shell Command Language, 2.2 Quoting; the options of gst-launch-1.0(1).
enum PastedText {
    /// - Returns: The words of the string; of a property's value in single quotes one in double quotes, which
    ///   GStreamer's parser takes off.
    static func words(of text: String) -> [String] {
        let words = PipelineText.split(joiningLines(of: text)).map(unquoted)
        return withoutProgram(words).filter { !isOption($0) }
    }

    /// Takes out backslashes at the ends of lines, and those that folding the lines has left in the middle:
    /// each stands where a word would begin.
    private static func joiningLines(of text: String) -> String {
        guard text.contains("\\") else { return text }
        var result = String.UnicodeScalarView()
        var quote: Unicode.Scalar?
        var beginsWord = true
        let scalars = Array(text.unicodeScalars)
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            if scalar == "\\" {
                let next = scalars[index...].drop { $0 == " " || $0 == "\t" || $0 == "\r" }
                let endsLine = next.first == "\n" || quote == nil && next.isEmpty && beginsWord
                let wasFolded = quote == nil && beginsWord && next.startIndex > index
                if endsLine || wasFolded {
                    if quote == nil { result.append(" ") }
                    index = next.startIndex + (next.first == "\n" ? 1 : 0)
                    continue
                }
                result.append(scalar)
                if index < scalars.count { result.append(scalars[index]) }
                index += 1
                beginsWord = false
                continue
            }
            if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "\"" || scalar == "'", beginsWord || result.last == "=" {
                quote = scalar
            }
            result.append(scalar)
            beginsWord = quote == nil && PipelineText.isSpace(scalar)
        }
        return String(result)
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

    /// `location='a b'` as `location="a b"`: the parser takes double quotes off a value, and no others.
    private static func assignment(_ word: String, _ equals: String.Index) -> String {
        let value = word[word.index(after: equals)...]
        guard value.count >= 2, value.first == "'", value.last == "'",
            !value.dropFirst().dropLast().contains("'")
        else {
            // A field of caps, where spaces follow their commas.
            let isTyped = ["\\(", "'(", "\"("].contains { value.hasPrefix($0) }
            return isTyped ? caps(word) : word
        }
        let inside = value.dropFirst().dropLast().flatMap { character in
            character == "\\" || character == "\"" ? ["\\", character] : [character]
        }
        return "\(word[...equals])\"\(String(inside))\""
    }

    /// `framerate='(fraction)'5/1` and `framerate=\(fraction\)5/1` without what a shell takes off.
    private static func caps(_ word: String) -> String {
        var result = word.replacing("\\(", with: "(").replacing("\\)", with: ")")
        for quote in ["'", "\""] {
            result = result.replacing("\(quote)(", with: "(").replacing(")\(quote)", with: ")")
        }
        return result
    }

    // MARK: The cut

    /// Without the `!` at either end: `videoconvert !` and `! fakesink` are what is left of a string that was
    /// cut between the two. Of a string of nothing else all is kept.
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
        // Behind a prompt, a variable of the environment, sudo or time.
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

    /// Whether it is one of gst-launch-1.0's: no element, property or link begins with a dash.
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
