internal import CMediaBridge

extension Pipeline {
    /// Returns an error if an element of the string is not linked on one side and never will be,
    /// for example because the `!` between two words is missing. `nil` if everything is linked, or
    /// may still be.
    package func strandedElement() -> PipelineError? {
        let all = elements.filter { $0.isOfString }
        let late = all.filter { LateLinks.hasLatePads($0) }
        let found = all.compactMap { element -> (Element, Bool)? in
            // Only a pad that appears later could still be linked to it.
            let mayBeFed = late.contains { $0.pointer != element.pointer }
            if !mayBeFed, element.isOpen(GST_PAD_SINK) { return (element, true) }
            let isSource = element.isOpen(GST_PAD_SRC) && !LateLinks.hasLatePads(element)
            return isSource ? (element, false) : nil
        }
        guard let (element, isFront) = found.first(where: { $0.1 }) ?? found.first else {
            return nil
        }
        let side = isFront ? "before" : "after"
        return PipelineError(
            .linkFailed, element: element.path,
            message: "nothing is linked to the \(isFront ? "input" : "output") of "
                + "\"\(element.name)\", in: \(text.onOneLine)",
            advice: missingLink(before: element).map { "\"\($0)\", with a ! to link them" }
                ?? "put a ! \(side) it, or remove it")
    }

    /// Returns the words around the missing `!`, with the `!` inserted; `nil` if they cannot be
    /// found.
    private func missingLink(before element: Element) -> String? {
        let words = PipelineText(text).words
        for index in words.indices.dropFirst() where words[index] == element.factoryName {
            guard let previous = words[..<index].lastIndex(where: { !$0.contains("=") }),
                words[previous] != "!", !words[previous].hasSuffix("("),
                !words[previous].hasSuffix(".")
            else { continue }
            return words[previous...index].joined(separator: " ").replacingLast(
                " \(words[index])", with: " ! \(words[index])")
        }
        return nil
    }
}

extension String {
    fileprivate func replacingLast(_ suffix: String, with other: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) + other : self
    }
}

extension Element {
    /// Whether it has pads of that direction, and none of them is linked.
    fileprivate func isOpen(_ direction: GstPadDirection) -> Bool {
        let all = pads(direction)
        return !all.isEmpty && !all.contains { $0.isLinked }
    }
}
