internal import CMediaBridge

extension Pipeline {
    /// Reports every property change as ``BusMessage/property(_:)`` from now on, for as long as the
    /// pipeline lives: the negotiated caps of every pad, and the `last-message` of elements.
    package func watchProperties() {
        _ = gst_element_add_property_deep_notify_watch(element, nil, 1)
    }
}

extension PropertyChange {
    init(_ message: UnsafeMutablePointer<GstMessage>) {
        var object: UnsafeMutablePointer<GstObject>?
        var name: UnsafePointer<gchar>?
        var value: UnsafePointer<GValue>?
        gst_message_parse_property_notify(message, &object, &name, &value)
        path = object.map { Element.path(of: UnsafeMutableRawPointer($0)) } ?? ""
        self.name = name.map { String(cString: $0) } ?? ""
        let text = mb_value_text(value)
        defer { g_free(text) }
        self.value = text.map { String(cString: $0) } ?? ""
    }
}

extension FoundTags {
    init?(_ message: UnsafeMutablePointer<GstMessage>) {
        var list: UnsafeMutablePointer<GstTagList>?
        gst_message_parse_tag(message, &list)
        guard let list else { return nil }
        defer { mb_tag_list_unref(list) }
        var found: [Tag] = []
        for index in 0..<gst_tag_list_n_tags(list) {
            guard let tag = gst_tag_list_nth_tag_name(list, UInt32(index)) else { continue }
            let values = (0..<gst_tag_list_get_tag_size(list, tag)).compactMap { place -> String? in
                guard let text = mb_tag_text(list, tag, place) else { return nil }
                defer { g_free(text) }
                return String(cString: text)
            }
            let name = gst_tag_get_nick(tag).map { String(cString: $0) } ?? String(cString: tag)
            found.append(Tag(name: name, values: values))
        }
        guard !found.isEmpty else { return nil }
        tags = found
        finder = Self.finder(message.pointee.src)
    }

    private static func finder(_ source: UnsafeMutablePointer<GstObject>?) -> String {
        guard let source, let text = gst_object_get_name(source) else { return "unknown object" }
        defer { g_free(text) }
        let name = String(cString: text)
        if mb_is_a(source, gst_element_get_type()) != 0 { return "element \"\(name)\"" }
        guard mb_is_a(source, gst_pad_get_type()) != 0 else { return "object \"\(name)\"" }
        let pad = Pad(
            retaining: UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstPad.self))
        return "pad \"\(pad.element?.name ?? ""):\(name)\""
    }
}
