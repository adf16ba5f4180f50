package import CMediaBridge

/// A strong reference to an element of a pipeline.
///
/// Sendable: GstElement is thread-safe, and the pointer never changes. Thread: any.
public final class Element: @unchecked Sendable {
    package let pointer: UnsafeMutablePointer<GstElement>

    init(adopting pointer: UnsafeMutablePointer<GstElement>) { self.pointer = pointer }

    init(retaining pointer: UnsafeMutablePointer<GstElement>) {
        gst_object_ref(pointer)
        self.pointer = pointer
    }

    /// `nil` if the object is not an element.
    convenience init?(object: UnsafeMutablePointer<GstObject>) {
        guard mb_is_a(object, gst_element_get_type()) != 0 else { return nil }
        self.init(
            retaining: UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self))
    }

    deinit { gst_object_unref(pointer) }

    /// The name within its bin: `filesrc0`, or the value of `name=` in the pipeline string.
    public var name: String {
        guard let text = gst_object_get_name(object) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// The path in the object hierarchy, for example `/GstPipeline:pipeline0/GstFileSrc:filesrc0`.
    public var path: String { Self.path(of: UnsafeMutableRawPointer(pointer)) }

    /// The name of the factory that made it, for example `filesrc`; empty for a plain bin.
    public var factoryName: String {
        guard let factory = gst_element_get_factory(pointer) else { return "" }
        return mb_factory_name(factory).map { String(cString: $0) } ?? ""
    }

    /// The element's class, for example `Source/File` or `Codec/Muxer`; empty if no factory made
    /// it.
    public var klass: String {
        guard let factory = gst_element_get_factory(pointer), let text = mb_factory_class(factory)
        else { return "" }
        return String(cString: text)
    }

    /// Returns whether the element has a property of that name.
    public func hasProperty(_ name: String) -> Bool { mb_has_property(pointer, name) != 0 }

    /// Sets a property from text, as gst-launch does. Does nothing if the element has no such
    /// property.
    public func set(_ property: String, _ value: String) {
        guard hasProperty(property) else { return }
        gst_util_set_object_arg(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self), property, value)
    }

    /// Sets a string property to exactly `value`, whereas gst-launch interprets quotes and
    /// backslashes. Does nothing if the element has no such property, or if it is not a string.
    public func set(literally property: String, _ value: String) {
        guard mb_property_is_string(pointer, property) != 0 else { return }
        mb_set_string(pointer, property, value)
    }

    func set(_ property: String, _ caps: Caps) { mb_set_caps(pointer, property, caps.pointer) }

    /// Returns the value of a string property; `nil` if there is no readable string property of
    /// that name, or if it is unset.
    public func string(_ property: String) -> String? {
        guard mb_property_is_string(pointer, property) != 0,
            let text = mb_get_string(pointer, property)
        else { return nil }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// Returns the value of a boolean property; false if there is no readable boolean property of
    /// that name.
    public func bool(_ property: String) -> Bool {
        mb_property_is_bool(pointer, property) != 0 && mb_get_bool(pointer, property) != 0
    }

    /// Returns the value of a 32-bit unsigned integer property; zero if there is no readable
    /// property of that name and type.
    public func uint(_ property: String) -> Int {
        mb_property_is_uint(pointer, property) != 0 ? Int(mb_get_uint(pointer, property)) : 0
    }

    /// The static sink pad of the stream that the element passes on; overlays have another one for
    /// their text. `nil` if it has none, or several of equal rank.
    var mainSinkPad: Pad? { pad("sink") ?? pad("video_sink") }

    /// Returns a static pad; `nil` if there is none of that name.
    package func pad(_ name: String) -> Pad? {
        gst_element_get_static_pad(pointer, name).map { Pad(adopting: $0) }
    }

    /// The number of frames that a sink rendered, and the number that it dropped because they were
    /// late; `nil` if the element is not a sink.
    package var sinkStatistics: (rendered: Int, dropped: Int)? {
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
