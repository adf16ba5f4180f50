internal import CMediaBridge

/// An element of a pipeline, held.
///
/// Sendable: GstElement is thread-safe, and the pointer never changes. Thread: any.
public final class Element: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstElement>

    init(adopting pointer: UnsafeMutablePointer<GstElement>) { self.pointer = pointer }

    init(retaining pointer: UnsafeMutablePointer<GstElement>) {
        gst_object_ref(pointer)
        self.pointer = pointer
    }

    /// `nil` for an object that is no element.
    convenience init?(object: UnsafeMutablePointer<GstObject>) {
        guard mb_is_a(object, gst_element_get_type()) != 0 else { return nil }
        self.init(
            retaining: UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self))
    }

    deinit { gst_object_unref(pointer) }

    /// The name within its bin: `filesrc0`, or what `name=` gave it.
    public var name: String {
        guard let text = gst_object_get_name(object) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// `/GstPipeline:pipeline0/GstFileSrc:filesrc0`
    public var path: String { Self.path(of: UnsafeMutableRawPointer(pointer)) }

    /// The name of the factory that made it: `filesrc`; empty for a plain bin.
    public var factoryName: String {
        guard let factory = gst_element_get_factory(pointer) else { return "" }
        return mb_factory_name(factory).map { String(cString: $0) } ?? ""
    }

    /// What kind of element: `Source/File`, `Codec/Muxer`.
    public var klass: String {
        guard let factory = gst_element_get_factory(pointer), let text = mb_factory_class(factory)
        else { return "" }
        return String(cString: text)
    }

    /// Whether gst-inspect-1.0 would list a property of that name.
    public func hasProperty(_ name: String) -> Bool { mb_has_property(pointer, name) != 0 }

    /// Sets a property from text, as gst-launch would. A property that the element does not have is
    /// left alone.
    public func set(_ property: String, _ value: String) {
        guard hasProperty(property) else { return }
        gst_util_set_object_arg(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self), property, value)
    }

    /// Sets a property that is a string, to `value` as it is: unlike gst-launch, which reads quotes and
    /// backslashes. A property that the element does not have, or of another type, is left alone.
    public func set(literally property: String, _ value: String) {
        guard mb_property_is_string(pointer, property) != 0 else { return }
        mb_set_string(pointer, property, value)
    }

    func set(_ property: String, _ caps: Caps) { mb_set_caps(pointer, property, caps.pointer) }

    /// `nil` where there is no such property, it holds none, or its value is not a string.
    public func string(_ property: String) -> String? {
        guard mb_property_is_string(pointer, property) != 0,
            let text = mb_get_string(pointer, property)
        else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// False where there is no such property, or its value is not a boolean.
    public func bool(_ property: String) -> Bool {
        mb_property_is_bool(pointer, property) != 0 && mb_get_bool(pointer, property) != 0
    }

    /// Zero where there is no such property, or its value is not an unsigned integer of 32 bits.
    public func uint(_ property: String) -> Int {
        mb_property_is_uint(pointer, property) != 0 ? Int(mb_get_uint(pointer, property)) : 0
    }

    /// The static pad by which an element takes the stream that it passes on: overlays have another one for
    /// their text. `nil` where it has none, or several of one rank.
    var mainSinkPad: Pad? { pad("sink") ?? pad("video_sink") }

    /// A static pad; `nil` where there is none of that name.
    public func pad(_ name: String) -> Pad? {
        gst_element_get_static_pad(pointer, name).map { Pad(adopting: $0) }
    }

    /// How many frames a sink showed, and how many it dropped because they came too late; `nil` for an
    /// element that is not a sink.
    public var sinkStatistics: (rendered: Int, dropped: Int)? {
        guard hasProperty("stats"), mb_is_a(pointer, gst_base_sink_get_type()) != 0,
            let stats = mb_get_structure(pointer, "stats")
        else { return nil }
        defer { gst_structure_free(stats) }
        var rendered: guint64 = 0
        var dropped: guint64 = 0
        gst_structure_get_uint64(stats, "rendered", &rendered)
        gst_structure_get_uint64(stats, "dropped", &dropped)
        return (Int(clamping: rendered), Int(clamping: dropped))
    }

    private var object: UnsafeMutablePointer<GstObject> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstObject.self)
    }

    static func path(of object: UnsafeMutableRawPointer) -> String {
        guard let text = mb_object_path(object) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
