internal import CMediaBridge

extension Pad {
    /// Calls `body` with the tags that reach this sink pad, on the streaming thread and before the
    /// buffers that follow: it must return at once. Everything that `body` captures lives as long
    /// as the pad. Call it before data flows.
    package func onTags(_ body: @escaping @Sendable (Tags) -> Void) {
        onEvent { event in
            if event.pointee.type == GST_EVENT_TAG { body(Tags(retaining: event)) }
        }
    }
}

extension AppSource {
    /// Sends tags, in order behind the buffers that are queued. Never blocks.
    package func send(_ tags: Tags) {
        gst_event_ref(tags.event)
        gst_element_send_event(element.pointer, tags.event)
    }
}
