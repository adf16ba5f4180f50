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
    /// Whether an element in front of the sink turns pictures as their tag says: `videoflip` does, and
    /// passes the tag on as if it had not.
    public var isTurnedByTag: Bool {
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
    /// Calls `body` with each orientation that passes as a tag, and with none when a stream begins, on
    /// the streaming thread and before the pictures that follow: it must return at once. The probe, and
    /// what `body` holds, stays as long as the pad.
    public func onOrientation(_ body: @escaping @Sendable (ImageOrientation) -> Void) {
        onEvent { event in
            switch event.pointee.type {
            case GST_EVENT_STREAM_START: body(ImageOrientation())
            case GST_EVENT_TAG:
                let told = Tags(retaining: event)["image-orientation"]
                if let told = told.flatMap({ ImageOrientation(tag: $0) }) { body(told) }
            default: break
            }
        }
    }
}
