internal import CMediaBridge

/// What a stream says of itself: its title, its artist, its cover, which way up its pictures are. As
/// GStreamer's tag event carries it.
///
/// Sendable: a GstEvent that is shared never changes. Thread: any.
public final class Tags: @unchecked Sendable {
    let event: UnsafeMutablePointer<GstEvent>

    private init(adopting event: UnsafeMutablePointer<GstEvent>) { self.event = event }

    init(retaining event: UnsafeMutablePointer<GstEvent>) {
        gst_event_ref(event)
        self.event = event
    }

    deinit { gst_event_unref(event) }

    private var list: UnsafeMutablePointer<GstTagList>? {
        var list: UnsafeMutablePointer<GstTagList>?
        gst_event_parse_tag(event, &list)
        return list
    }

    /// The text of a tag, by GStreamer's name; `nil` where there is none, or it is no text.
    public subscript(name: String) -> String? {
        var text: UnsafeMutablePointer<gchar>?
        guard let list, gst_tag_list_get_string(list, name, &text) != 0, let text else {
            return nil
        }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// The same without some, by GStreamer's names; `nil` where nothing is left.
    public func removing(_ names: Set<String>) -> Tags? {
        guard let list, let copy = mb_tag_list_copy(list) else { return nil }
        for name in names { gst_tag_list_remove_tag(copy, name) }
        return Self.make(copy)
    }

    /// Both; of what both have, `later`'s.
    public func merged(with later: Tags) -> Tags {
        guard let list, let other = later.list,
            let both = gst_tag_list_merge(list, other, GST_TAG_MERGE_REPLACE)
        else { return later }
        gst_tag_list_set_scope(both, gst_tag_list_get_scope(other))
        return Self.make(both) ?? later
    }

    /// - Parameter list: Handed over.
    private static func make(_ list: UnsafeMutablePointer<GstTagList>) -> Tags? {
        guard gst_tag_list_is_empty(list) == 0, let event = gst_event_new_tag(list) else {
            mb_tag_list_unref(list)
            return nil
        }
        return Tags(adopting: event)
    }
}
