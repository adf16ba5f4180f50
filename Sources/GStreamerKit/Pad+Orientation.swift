internal import CMediaBridge

/// What the `image-orientation` tag says of a stream's pictures.
public struct ImageOrientation: Hashable, Sendable {
    /// How far they must be turned clockwise to stand upright: 0, 90, 180 or 270.
    public var degrees: Int
    /// Whether left and right are exchanged besides.
    public var isMirrored: Bool

    public init(degrees: Int = 0, isMirrored: Bool = false) {
        self.degrees = degrees
        self.isMirrored = isMirrored
    }

    /// Reads the tag's value: `rotate-90`, `flip-rotate-180`; `nil` for any other text.
    public init?(tag: String) {
        let parts = tag.split(separator: "-")
        guard let degrees = parts.last.flatMap({ Int($0) }), (0..<360).contains(degrees),
            degrees.isMultiple(of: 90)
        else { return nil }
        switch parts.dropLast() {
        case ["rotate"]: self.init(degrees: degrees)
        case ["flip", "rotate"]: self.init(degrees: degrees, isMirrored: true)
        default: return nil
        }
    }
}

extension Pad {
    /// Calls `body` with each orientation that passes as a tag, and with none when a stream begins, on
    /// the streaming thread and before the pictures that follow: it must return at once. The probe, and
    /// what `body` holds, stays as long as the pad.
    public func onOrientation(_ body: @escaping @Sendable (ImageOrientation) -> Void) {
        onEvent { event in
            switch event.pointee.type {
            case GST_EVENT_STREAM_START: body(ImageOrientation())
            case GST_EVENT_TAG:
                var tags: UnsafeMutablePointer<GstTagList>?
                gst_event_parse_tag(event, &tags)
                var text: UnsafeMutablePointer<gchar>?
                guard let tags,
                    gst_tag_list_get_string(tags, "image-orientation", &text) != 0, let text
                else { return }
                defer { g_free(text) }
                if let told = ImageOrientation(tag: String(cString: text)) { body(told) }
            default: break
            }
        }
    }

    private func onEvent(_ body: @escaping (UnsafeMutablePointer<GstEvent>) -> Void) {
        let context = UnsafeMutablePointer<Probe>.allocate(capacity: 1)
        context.initialize(to: Probe(body: body))
        _ = mb_pad_add_probe(
            pointer, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { _, info, context in
                if let probe = context?.assumingMemoryBound(to: Probe.self), let info,
                    let event = gst_pad_probe_info_get_event(info)
                {
                    probe.pointee.body(event)
                }
                return GST_PAD_PROBE_OK
            }, context,
            {
                let probe = $0?.assumingMemoryBound(to: Probe.self)
                probe?.deinitialize(count: 1)
                probe?.deallocate()
            })
    }

    /// Lives in memory of its own, from registration to the destroy-notify.
    private struct Probe: ~Copyable {
        let body: (UnsafeMutablePointer<GstEvent>) -> Void
    }
}
