internal import CMediaBridge

/// What a stream is: `video/x-raw, format=I420, width=1280 …`. Immutable and counted.
///
/// Thread: any.
public final class Caps: Sendable, CustomStringConvertible {
    /// Sendable: caps held by more than one are immutable in GStreamer, and this class never writes.
    struct Pointer: @unchecked Sendable {
        let raw: UnsafeMutablePointer<GstCaps>
    }
    private let handle: Pointer

    var pointer: UnsafeMutablePointer<GstCaps> { handle.raw }

    /// An identity for comparison: equal while both caps are held means the very same caps.
    public let identity: UInt

    init(adopting pointer: UnsafeMutablePointer<GstCaps>) {
        handle = Pointer(raw: pointer)
        identity = UInt(bitPattern: pointer)
    }

    convenience init(retaining pointer: UnsafeMutablePointer<GstCaps>) {
        self.init(adopting: mb_caps_ref(pointer))
    }

    /// Reads caps as gst-launch writes them.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/syntax``.
    public convenience init(_ text: String) throws(PipelineError) {
        try GStreamer.initialize()
        guard let pointer = gst_caps_from_string(text) else {
            throw PipelineError(.syntax, message: "not caps: \"\(text)\"")
        }
        self.init(adopting: pointer)
    }

    deinit { mb_caps_unref(pointer) }

    /// The media type of the first structure: `video/x-raw`; `ANY` for caps without one.
    public var mediaType: String {
        guard gst_caps_get_size(pointer) > 0, let structure = gst_caps_get_structure(pointer, 0),
            let name = gst_structure_get_name(structure)
        else { return "ANY" }
        return String(cString: name)
    }

    /// The media types of all structures; none for ANY.
    public var mediaTypes: [String] {
        (0..<gst_caps_get_size(pointer)).compactMap { index in
            gst_caps_get_structure(pointer, index).flatMap { gst_structure_get_name($0) }
                .map { String(cString: $0) }
        }
    }

    /// The media type of all structures; `nil` where they differ, or there is none.
    public var onlyMediaType: String? {
        let types = Set(mediaTypes)
        return types.count == 1 ? types.first : nil
    }

    /// Whether both say the same, field by field.
    public func isEqual(to other: Caps) -> Bool {
        gst_caps_is_equal(pointer, other.pointer) != 0
    }

    /// Whether they allow anything.
    public var isAny: Bool { gst_caps_is_any(pointer) != 0 }

    /// Whether they allow nothing.
    public var isEmpty: Bool { gst_caps_is_empty(pointer) != 0 }

    /// What both allow, in the order of preference of this one.
    public func intersection(_ other: Caps) -> Caps {
        Caps(
            adopting: gst_caps_intersect_full(
                pointer, other.pointer, GST_CAPS_INTERSECT_FIRST))
    }

    /// Whether any of it is raw video or sound.
    public var isRaw: Bool { mediaTypes.contains { $0.hasSuffix("/x-raw") } }

    /// Caps of the same media types, of anything else; `nil` for ANY.
    public var kinds: Caps? {
        let types = Set(mediaTypes).sorted()
        guard !types.isEmpty else { return nil }
        return try? Caps(types.map { "\($0)(ANY)" }.joined(separator: "; "))
    }

    /// As gst-launch writes them.
    public var description: String {
        guard let text = gst_caps_to_string(pointer) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
