internal import CMediaBridge
internal import Glibc

extension Pipeline {
    /// The name of an element that is put in front of every string: without it GStreamer's parser
    /// dereferences null on a string that links references but contains no element (`a. ! b.`).
    private static let guardName = "mediabridge-guard"

    static func parse(_ text: String) throws(PipelineError) -> UnsafeMutablePointer<GstPipeline> {
        try GStreamer.initialize()
        let description = PipelineText(text)
        guard !description.words.isEmpty else {
            throw PipelineError(
                .syntax, message: "the pipeline string is empty",
                advice: "a string that gst-launch-1.0 accepts, such as \"videotestsrc\"")
        }
        guard !text.utf8.contains(0) else {
            throw PipelineError(.syntax, message: "the pipeline string contains a zero byte")
        }
        if let name = description.duplicateNames.first {
            throw PipelineError(
                .duplicateName,
                message: "two elements are named \"\(name)\" in: \(text.onOneLine)",
                advice: "give each element a different name")
        }
        guard let context = gst_parse_context_new() else {
            throw PipelineError(
                .initializationFailed, message: "cannot allocate memory for a parser")
        }
        defer { gst_parse_context_free(context) }
        var error: UnsafeMutablePointer<GError>?
        let parsable = PipelineChains.withFilters(description.parsable)
        let flags =
            GST_PARSE_FLAG_FATAL_ERRORS.rawValue | GST_PARSE_FLAG_NO_SINGLE_ELEMENT_BINS.rawValue
        let (parsed, critical) = LogCapture.during {
            gst_parse_launch_full(
                "( identity name=\(guardName) ) \(parsable)", context,
                GstParseFlags(rawValue: flags), &error)
        }
        if error != nil || !critical.isEmpty || parsed == nil {
            if let parsed { discard(parsed) }
            throw parseFailure(text, error: error, critical: critical, context: context)
        }
        guard let parsed, let pipeline = removeGuard(parsed) else {
            if let parsed { discard(parsed) }
            throw PipelineError(
                .syntax, message: "not a pipeline, or it begins with a link: \(text.onOneLine)")
        }
        return pipeline
    }

    /// Removes the guard element and returns the remaining pipeline, with one reference that the
    /// caller owns.
    private static func removeGuard(
        _ parsed: UnsafeMutablePointer<GstElement>
    ) -> UnsafeMutablePointer<GstPipeline>? {
        guard mb_is_a(parsed, gst_pipeline_get_type()) != 0 else { return nil }
        let bin = parsed.cast(to: GstBin.self)
        guard let identity = gst_bin_get_by_name(bin, guardName) else { return nil }
        defer { gst_object_unref(identity) }
        // A string that begins with a link (`! fakesink`) was linked to the guard.
        guard !isLinked(identity) else { return nil }
        guard let holder = gst_object_get_parent(identity.cast()) else { return nil }
        defer { gst_object_unref(holder) }
        // The parser unwraps a bin of one element: the identity is then directly in the pipeline.
        let outer = holder == parsed.cast() ? identity : holder.cast()
        guard gst_bin_remove(bin, outer) != 0 else { return nil }
        // Sink the floating reference only here: if this returns nil, `discard` does it.
        gst_object_ref_sink(parsed)
        return parsed.cast()
    }

    private static func isLinked(_ element: UnsafeMutablePointer<GstElement>) -> Bool {
        ["sink", "src"].contains { name in
            guard let pad = gst_element_get_static_pad(element, name) else { return false }
            defer { gst_object_unref(pad) }
            return gst_pad_is_linked(pad) != 0
        }
    }

    private static func discard(_ parsed: UnsafeMutablePointer<GstElement>) {
        gst_object_ref_sink(parsed)
        gst_element_set_state(parsed, GST_STATE_NULL)
        gst_object_unref(parsed)
    }

    private static func parseFailure(
        _ text: String, error: UnsafeMutablePointer<GError>?, critical: [String],
        context: OpaquePointer
    ) -> PipelineError {
        var failure =
            error.map { PipelineError(adopting: $0) }
            ?? PipelineError(
                .syntax, message: "GStreamer cannot create a pipeline from this string")
        let description = PipelineText(text)
        let advisor = ParseAdvice(description)
        if let advice = advisor.advice(for: failure.code, failure.message) {
            failure.advice = advice
        }
        if failure.code == .linkFailed, let advice = advisor.adviceForFormats {
            failure.advice = advice
        }
        if failure.code == .syntax { locate(&failure, in: description) }
        if failure.code == .missingElement {
            if let name = missingElements(context).first {
                failure.advice = MissingPlugin(kind: .element, name: name).advice
            } else if let name = description.unknownReferences.first {
                failure.code = .linkFailed
                failure.message = "no element has the name \"\(name)\""
                failure.advice = advisor.advice(forUnknown: name)
            } else {
                // GStreamer uses one error code for a missing element and for a reference (`t.`) to
                // a name that no element of the string has.
                failure.code = .linkFailed
                failure.advice = "a word with a dot refers to an element by its name: write name=…"
            }
        }
        if let path = description.words.first, path.contains("/"), access(path, F_OK) == 0 {
            failure.advice = "filesrc location=\(path) ! decodebin"
        }
        if !critical.isEmpty {
            let stated = critical.joined(separator: "; ")
            failure.debug = failure.debug.map { "\($0); \(stated)" } ?? stated
        }
        failure.message = failure.message.trimmingSuffix(".\n ") + ", in: \(text.onOneLine)"
        return failure
    }

    /// Adds the position of a syntax error to its message.
    private static func locate(_ failure: inout PipelineError, in text: PipelineText) {
        let message = failure.message.trimmingSuffix(".\n ")
        // GStreamer quotes the offending part in every other syntax message, in any language.
        let isUnplaced = !message.contains("\"")
        if isUnplaced, let fault = SyntaxFault.first(in: text) {
            failure.message = "\(message) \(fault.message)"
            failure.advice = fault.advice
        }
        let quoted = message.split(separator: "\"", omittingEmptySubsequences: false)
        if quoted.count > 1, let advice = text.valueWithSpace(before: String(quoted[1])) {
            failure.advice = advice
        } else if let name = text.unknownReferences.first {
            let advice = ParseAdvice(text).advice(forUnknown: name)
            failure.advice = "\(advice): no element has the name \"\(name)\""
        } else if !isUnplaced, failure.domainCode == Int(GST_PARSE_ERROR_SYNTAX.rawValue) {
            failure.advice = "put a ! between it and the element to link it with"
        }
    }

    private static func missingElements(_ context: OpaquePointer) -> [String] {
        strings(adopting: gst_parse_context_get_missing_elements(context))
    }
}

// MARK: Unlinked elements

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
            return words[previous..<index].joined(separator: " ") + " ! \(words[index])"
        }
        return nil
    }
}

extension Element {
    /// Whether it has pads of that direction, and none of them is linked.
    fileprivate func isOpen(_ direction: GstPadDirection) -> Bool {
        let all = pads(direction)
        return !all.isEmpty && !all.contains { $0.isLinked }
    }
}
