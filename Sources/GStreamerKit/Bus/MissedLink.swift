internal import CMediaBridge

/// A delayed link, one that was to be made when a pad appears (`decodebin ! vp8enc`), that can
/// never be made.
package struct MissedLink: Sendable {
    /// Says what is wrong, and which streams exist instead.
    package let error: PipelineError
    /// The name of the element that waits for a stream.
    package let receiver: String

    /// - Parameters:
    ///   - warning: GStreamer's `Delayed linking failed`.
    ///   - element: The element that has no such pad.
    ///   - missing: The missing plugin that was reported before, if any.
    ///   - former: Advice about names of GStreamer 0.10 in the string.
    init(
        _ warning: PipelineError, from element: Element?, _ missing: MissingPlugin?,
        former: String?
    ) {
        // "failed delayed linking some pad of GstMatroskaDemux named d to some pad of GstVP8Dec
        // named x"
        let receiver =
            (warning.debug ?? "").split(whereSeparator: \.isWhitespace).last
            .map(String.init) ?? ""
        let giver = element.map { "\"\($0.name)\" (\($0.factoryName))" } ?? "the element"
        let types = Set(element?.sourcePads.map(\.mediaType) ?? []).subtracting([""]).sorted()
        var error = warning
        error.message =
            "\(giver) has no stream for \"\(receiver)\"\(element?.wish(ofSibling: receiver) ?? "")"
            + (types.isEmpty ? "" : ": it produces \(types.joined(separator: ", "))")
        error.debug = "\(warning.message) \(warning.debug ?? "")"
        error.advice =
            missing?.advice ?? former
            ?? "use a decoder or parser for one of its streams, or remove this branch"
        self.error = error
        self.receiver = receiver
    }
}

extension PipelineError {
    /// Whether it is GStreamer's `Delayed linking failed`, in any language.
    package var isMissedLink: Bool {
        domain == g_quark_to_string(gst_parse_error_quark()).map { String(cString: $0) }
            && domainCode == Int(GST_PARSE_ERROR_DELAYED_LINK.rawValue)
    }
}

extension Element {
    /// Returns a phrase about the caps of an appsink in the same bin, if it restricts them:
    /// `, which takes audio/x-raw`.
    fileprivate func wish(ofSibling name: String) -> String? {
        let parent = gst_object_get_parent(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstObject.self))
        guard let parent else { return nil }
        defer { gst_object_unref(parent) }
        guard mb_is_a(parent, gst_bin_get_type()) != 0,
            let sibling = gst_bin_get_by_name(
                UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstBin.self), name),
            let caps = AppSink(Element(adopting: sibling))?.ownCaps, !caps.isAny
        else { return nil }
        return ", which accepts \(caps.mediaType)"
    }
}

extension Pad {
    /// The media type of the current or possible caps, for example `video/x-h264`; empty if it is
    /// unknown.
    fileprivate var mediaType: String {
        let caps = gst_pad_get_current_caps(pointer) ?? gst_pad_query_caps(pointer, nil)
        let type = caps.map { Caps(adopting: $0).mediaType } ?? ""
        return type == "ANY" ? "" : type
    }
}
