internal import CMediaBridge

/// The metadata of a stream, such as title, artist, cover and image orientation, as GStreamer's tag
/// event carries it.
///
/// Sendable: the event is never changed; another owner must copy it to change it. Thread: any.
package final class Tags: @unchecked Sendable {
    let event: UnsafeMutablePointer<GstEvent>

    private init(adopting event: UnsafeMutablePointer<GstEvent>) { self.event = event }

    init(retaining event: UnsafeMutablePointer<GstEvent>) {
        gst_event_ref(event)
        self.event = event
    }

    /// Creates the tag of an orientation; `nil` if there is no memory.
    package static func orientation(clockwise degrees: Int) -> Tags? {
        gst_tag_list_new_from_string("taglist, image-orientation=(string)rotate-\(degrees)")
            .flatMap { make($0) }
    }

    /// Creates the title of a stream.
    package static func title(_ title: String) -> Tags? {
        let list = gst_tag_list_new_empty()
        var value = GValue()
        g_value_init(&value, gst_tag_get_type(GST_TAG_TITLE))
        g_value_set_string(&value, title)
        gst_tag_list_add_value(list, GST_TAG_MERGE_REPLACE, GST_TAG_TITLE, &value)
        g_value_unset(&value)
        return list.flatMap { make($0) }
    }

    deinit { gst_event_unref(event) }

    private var list: UnsafeMutablePointer<GstTagList>? {
        var list: UnsafeMutablePointer<GstTagList>?
        gst_event_parse_tag(event, &list)
        return list
    }

    /// The value of a tag whose type is string, by GStreamer's name; several values are joined as
    /// GStreamer does. `nil` if it is missing. For a tag of another type GLib logs a critical
    /// warning.
    package subscript(name: String) -> String? {
        var text: UnsafeMutablePointer<gchar>?
        guard let list, gst_tag_list_get_string(list, name, &text) != 0 else { return nil }
        return String(adopting: text)
    }

    /// Returns the tags except those named, by GStreamer's names; `nil` if none is left.
    package func removing(_ names: Set<String>) -> Tags? {
        guard let list, let copy = mb_tag_list_copy(list) else { return nil }
        for name in names { gst_tag_list_remove_tag(copy, name) }
        return Self.make(copy)
    }

    /// Returns the union of both; `later` has precedence for tags that both have, and decides
    /// whether the result concerns the stream or the whole file.
    package func merged(with later: Tags) -> Tags {
        guard let list, let other = later.list,
            let both = gst_tag_list_merge(list, other, GST_TAG_MERGE_REPLACE)
        else { return later }
        gst_tag_list_set_scope(both, gst_tag_list_get_scope(other))
        return Self.make(both) ?? later
    }

    /// - Parameter list: Ownership is transferred.
    /// - Returns: `nil` if the list is empty.
    private static func make(_ list: UnsafeMutablePointer<GstTagList>) -> Tags? {
        guard gst_tag_list_is_empty(list) == 0, let event = gst_event_new_tag(list) else {
            mb_tag_list_unref(list)
            return nil
        }
        return Tags(adopting: event)
    }
}

/// The orientation of a stream's pictures according to its `image-orientation` tag.
package struct ImageOrientation: Hashable, Sendable {
    /// The clockwise rotation that makes them upright, in degrees: 0, 90, 180 or 270.
    package var degrees: Int
    /// Whether they must also be mirrored horizontally.
    package var isMirrored: Bool

    /// Creates an orientation; upright by default.
    package init(degrees: Int = 0, isMirrored: Bool = false) {
        self.degrees = degrees
        self.isMirrored = isMirrored
    }

    /// Parses the tag's value: `rotate-90`, `flip-rotate-180`; `nil` for any other text.
    package init?(tag: String) {
        let isMirrored = tag.hasPrefix("flip-")
        switch isMirrored ? tag.dropFirst(5) : tag[...] {
        case "rotate-0": self.init(degrees: 0, isMirrored: isMirrored)
        case "rotate-90": self.init(degrees: 90, isMirrored: isMirrored)
        case "rotate-180": self.init(degrees: 180, isMirrored: isMirrored)
        case "rotate-270": self.init(degrees: 270, isMirrored: isMirrored)
        default: return nil
        }
    }
}
