internal import CMediaBridge

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

extension AppSink {
    /// Whether an element upstream of the sink rotates pictures according to their tag: `videoflip`
    /// does, and passes the tag on unchanged.
    package var isTurnedByTag: Bool {
        var pad = element.pad("sink")?.peer
        for _ in 0..<256 {
            guard let element = pad?.element else { return false }
            if element.turnsByTag { return true }
            pad = element.mainSinkPad?.peer
        }
        return false
    }
}

extension Element {
    fileprivate var turnsByTag: Bool {
        guard ["videoflip", "glvideoflip"].contains(factoryName) else { return false }
        return mb_get_enum(pointer, "video-direction")
            == gint(GST_VIDEO_ORIENTATION_AUTO.rawValue)
    }
}

extension Pad {
    /// Calls `body` with each orientation tag that reaches this sink pad, and with the upright
    /// orientation when a stream begins, on the streaming thread and before the pictures that
    /// follow: it must return at once. Everything that `body` captures lives as long as the pad.
    /// Call it before data flows.
    package func onOrientation(_ body: @escaping @Sendable (ImageOrientation) -> Void) {
        onEvent { event in
            switch event.pointee.type {
            case GST_EVENT_STREAM_START: body(ImageOrientation())
            case GST_EVENT_TAG:
                let tag = Tags(retaining: event)["image-orientation"]
                if let orientation = tag.flatMap({ ImageOrientation(tag: $0) }) {
                    body(orientation)
                }
            default: break
            }
        }
    }
}

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
