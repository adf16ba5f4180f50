extension PipelineError: CustomStringConvertible {
    /// One paragraph: what, which element, what GStreamer says besides, what to do. The path stands in it
    /// once, and long caps are cut; ``debug`` has all.
    public var description: String {
        var text = Self.brief(message.trimmingSuffix(".\n "))
        if let element, !text.contains(element) { text += " (\(element))" }
        if let detail { text += ". GStreamer: " + detail }
        if let advice { text += (text.hasSuffix(".") ? " " : ". ") + "Try: \(advice)" }
        return text.hasSuffix(".") ? text : text + "."
    }

    /// GStreamer's debug text without what stands in the paragraph already: `file.c(12): function ():
    /// /path/of/element:` in front of the reason.
    private var detail: String? {
        guard let debug, !debug.isEmpty else { return nil }
        var text = debug.split(separator: "\n").joined(separator: " ")
        var place = ""
        if let call = text.firstRange(of: " (): "), text[..<call.lowerBound].contains("): ") {
            place = text[..<call.lowerBound].split(separator: "/").last.map(String.init) ?? ""
            text = String(text[call.upperBound...])
        }
        if let element {
            text = text.replacing("\(element): ", with: "").replacing("\(element):", with: "")
                .replacing(element, with: "")
        }
        text = text.trimmingSuffix(" ")
        if text.isEmpty { return place.isEmpty ? nil : "\(place) ()" }
        return Self.brief(text)
    }

    /// The text with types of fields left out, and long lists and caps cut.
    private static func brief(_ text: String) -> String {
        var result = text
        for type in ["string", "int", "fraction", "boolean", "buffer", "bitmask", "uint", "double"]
        {
            result = result.replacing("(\(type))", with: "")
        }
        result = shortenLists(result)
        let limit = 700
        guard result.count > limit else { return result }
        return "\(result.prefix(limit * 2 / 3)) … \(result.suffix(limit / 3))"
    }

    /// `{ A, B, C, D, E, F }` as `{ A, B, C, … }`.
    private static func shortenLists(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let items = rest[rest.index(after: open)..<close].split(separator: ",")
            result += rest[..<open]
            result +=
                items.count > 4
                ? "{\(items.prefix(3).joined(separator: ",")), … }" : rest[open...close]
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }
}

extension PipelineError {
    /// What to do where pictures cannot be shown.
    static var displayAdvice: String {
        "a display that this process can reach (DISPLAY, WAYLAND_DISPLAY); "
            + "xvfb-run gives one without a screen"
    }
}
