package import CMediaBridge

/// The format of a stream: `video/x-raw, format=I420, width=1280 …`. Immutable and
/// reference-counted.
///
/// Thread: any.
package final class Caps: Sendable, CustomStringConvertible {
    /// Sendable: caps with more than one reference are immutable in GStreamer, and this class never
    /// writes to them.
    struct Pointer: @unchecked Sendable {
        let raw: UnsafeMutablePointer<GstCaps>
    }
    private let handle: Pointer

    package var pointer: UnsafeMutablePointer<GstCaps> { handle.raw }

    /// An identity for comparison: two objects with equal identities, both alive, are the same
    /// GstCaps.
    package let identity: UInt

    init(adopting pointer: UnsafeMutablePointer<GstCaps>) {
        handle = Pointer(raw: pointer)
        identity = UInt(bitPattern: pointer)
    }

    convenience init(retaining pointer: UnsafeMutablePointer<GstCaps>) {
        self.init(adopting: mb_caps_ref(pointer))
    }

    /// Parses caps in gst-launch's syntax.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/syntax``.
    package convenience init(_ text: String) throws(PipelineError) {
        try GStreamer.initialize()
        guard let pointer = gst_caps_from_string(text) else {
            throw PipelineError(.syntax, message: "not caps: \"\(text)\"")
        }
        self.init(adopting: pointer)
    }

    deinit { mb_caps_unref(pointer) }

    /// ANY: always the same GstCaps.
    package static var any: Caps { Caps(adopting: mb_caps_any()) }

    /// The media type of the first structure, for example `video/x-raw`; `ANY` if there is no
    /// structure.
    package var mediaType: String {
        guard gst_caps_get_size(pointer) > 0, let structure = gst_caps_get_structure(pointer, 0),
            let name = gst_structure_get_name(structure)
        else { return "ANY" }
        return String(cString: name)
    }

    /// The media types of all structures; empty for ANY.
    package var mediaTypes: [String] {
        (0..<gst_caps_get_size(pointer)).compactMap { index in
            gst_caps_get_structure(pointer, index).flatMap { gst_structure_get_name($0) }
                .map { String(cString: $0) }
        }
    }

    /// Returns whether both are equal, field by field.
    package func isEqual(to other: Caps) -> Bool {
        gst_caps_is_equal(pointer, other.pointer) != 0
    }

    /// Whether they are ANY.
    package var isAny: Bool { gst_caps_is_any(pointer) != 0 }

    /// Whether they are EMPTY.
    package var isEmpty: Bool { gst_caps_is_empty(pointer) != 0 }

    /// Whether they describe exactly one format.
    package var isFixed: Bool { gst_caps_is_fixed(pointer) != 0 }

    /// Returns the intersection, in the order of preference of these caps.
    package func intersection(_ other: Caps) -> Caps {
        Caps(
            adopting: gst_caps_intersect_full(
                pointer, other.pointer, GST_CAPS_INTERSECT_FIRST))
    }

    /// Returns the intersection in an order that respects the preferences of both, as a tee does.
    package func zigzagIntersection(_ other: Caps) -> Caps {
        Caps(adopting: gst_caps_intersect(pointer, other.pointer))
    }

    /// Returns these caps and, after them, the others.
    package func union(_ other: Caps) -> Caps {
        Caps(adopting: gst_caps_merge(mb_caps_ref(pointer), mb_caps_ref(other.pointer)))
    }

    /// Whether any structure is raw video or audio.
    package var isRaw: Bool { mediaTypes.contains { $0.hasSuffix("/x-raw") } }

    /// Whether the first structure is audio, raw or encoded.
    package var isSound: Bool { mediaType.hasPrefix("audio/") }

    /// Whether the first describes encoded pictures in no container, so that the time of each buffer
    /// is that of a picture.
    package var isEncodedPictures: Bool {
        let mediaType = mediaType
        guard mediaType != "video/mpeg" else {
            return (try? Caps("video/mpeg,systemstream=(boolean)false"))
                .map { !intersection($0).isEmpty } ?? false
        }
        return Self.encodedPictures.contains(mediaType)
    }

    /// Whether the first describes encoded pictures of which each is one buffer.
    package var isAlignedToPictures: Bool {
        ["au", "tu"].contains(text(of: "alignment")) && isEncodedPictures
    }

    private static let encodedPictures: Set<String> = [
        "image/jpeg", "image/jp2", "image/x-j2c", "image/png", "video/x-av1", "video/x-cavs",
        "video/x-dirac", "video/x-divx", "video/x-ffv", "video/x-h263", "video/x-h264",
        "video/x-h265", "video/x-prores", "video/x-theora", "video/x-vp6", "video/x-vp8",
        "video/x-vp9", "video/x-wmv",
    ]

    /// Caps of the same media types with any memory features and no other fields; `nil` for ANY.
    package var kinds: Caps? {
        let types = Set(mediaTypes).sorted()
        guard !types.isEmpty else { return nil }
        return try? Caps(types.map { "\($0)(ANY)" }.joined(separator: "; "))
    }

    /// The caps in gst-launch's syntax.
    package var description: String {
        guard let text = gst_caps_to_string(pointer) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
