extension PipelineError: CustomStringConvertible {
    /// One paragraph: the message, the element, GStreamer's details and the advice. The element's
    /// path appears once, and long caps are shortened; ``debug`` has the full text.
    public var description: String {
        var text = Self.brief(message.trimmingSuffix(".\n "))
        if let element, !text.contains(element) { text += " (\(element))" }
        if let detail { text += ". GStreamer: " + detail }
        if let advice { text += (text.hasSuffix(".") ? " " : ". ") + "Try: \(advice)" }
        return text.hasSuffix(".") ? text : text + "."
    }

    /// GStreamer's debug text without the parts that the paragraph already has: the prefix
    /// `file.c(12): function (): /path/of/element:`.
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

    /// Returns the text without types of fields, and with long lists and caps shortened.
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

    /// Shortens `{ A, B, C, D, E, F }` to `{ A, B, C, … }`.
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
    /// Advice for the case that video cannot be displayed.
    static var displayAdvice: String {
        "use a display that this process can open (DISPLAY, WAYLAND_DISPLAY); "
            + "xvfb-run provides one without a screen"
    }
}
