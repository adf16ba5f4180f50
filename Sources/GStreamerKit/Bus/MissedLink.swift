internal import CMediaBridge

/// A link that was to be made when a pad appears (`decodebin ! vp8enc`), and never will be.
public struct MissedLink: Sendable {
    /// What is wrong, and what there is in its place.
    public let error: PipelineError
    /// The name of the element that waits for a stream.
    public let receiver: String

    /// - Parameters:
    ///   - warning: GStreamer's `Delayed linking failed`.
    ///   - element: The one that has no such pad.
    ///   - missing: What a decoder was missed for before.
    ///   - former: What the string has of GStreamer 0.10.
    init(
        _ warning: PipelineError, from element: Element?, _ missing: MissingPlugin?,
        former: String?
    ) {
        // "failed delayed linking some pad of GstMatroskaDemux named d to some pad of GstVP8Dec named x"
        let receiver =
            (warning.debug ?? "").split(whereSeparator: \.isWhitespace).last
            .map(String.init) ?? ""
        let giver = element.map { "\"\($0.name)\" (\($0.factoryName))" } ?? "the element"
        let types = Set(element?.sourcePads.map(\.mediaType) ?? []).subtracting([""]).sorted()
        var error = warning
        error.message =
            "\(giver) has no stream for \"\(receiver)\"\(element?.wish(ofSibling: receiver) ?? "")"
            + (types.isEmpty ? "" : ": it gives \(types.joined(separator: ", "))")
        error.debug = "\(warning.message) \(warning.debug ?? "")"
        error.advice =
            missing?.advice ?? former
            ?? "the decoder or parser of a stream that there is, or leave this branch out"
        self.error = error
        self.receiver = receiver
    }
}

extension PipelineError {
    /// Whether it is GStreamer's `Delayed linking failed`, in whatever language.
    package var isMissedLink: Bool {
        domain == g_quark_to_string(gst_parse_error_quark()).map { String(cString: $0) }
            && domainCode == Int(GST_PARSE_ERROR_DELAYED_LINK.rawValue)
    }
}

extension Element {
    /// What an appsink beside the element takes, where it takes something of its own: `, which takes
    /// audio/x-raw`.
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
        return ", which takes \(caps.mediaType)"
    }
}

extension Pad {
    /// What passes, or could: `video/x-h264`; empty where that is not known.
    fileprivate var mediaType: String {
        let caps = gst_pad_get_current_caps(pointer) ?? gst_pad_query_caps(pointer, nil)
        let type = caps.map { Caps(adopting: $0).mediaType } ?? ""
        return type == "ANY" ? "" : type
    }
}
