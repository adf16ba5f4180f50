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

    /// The media type of the first structure: `video/x-raw`.
    public var mediaType: String {
        guard let structure = gst_caps_get_structure(pointer, 0),
            let name = gst_structure_get_name(structure)
        else { return "ANY" }
        return String(cString: name)
    }

    public func isEqual(to other: Caps) -> Bool {
        gst_caps_is_equal(pointer, other.pointer) != 0
    }

    public var description: String {
        guard let text = gst_caps_to_string(pointer) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
