internal import CMediaBridge

/// A property that can name something outside of the pipeline, or hold an element.
public struct ElementProperty: Sendable {
    /// As gst-inspect-1.0 lists it.
    public let name: String
    /// What it holds now, and what it would if nobody had set it; `nil` where it cannot be read.
    public let text: String?
    public let defaultText: String?
    /// False for one that can only be written.
    public let isReadable: Bool
}

extension Element {
    /// Every property that is a string and can be set, but for the name.
    public var textProperties: [ElementProperty] {
        specs.compactMap { spec in
            guard mb_spec_is_string(spec) != 0, mb_spec_is_writable(spec) != 0,
                let name = g_param_spec_get_name(spec).map({ String(cString: $0) }), name != "name"
            else { return nil }
            return ElementProperty(
                name: name, text: string(name),
                defaultText: mb_spec_default_string(spec).map { String(cString: $0) },
                isReadable: mb_spec_is_readable(spec) != 0)
        }
    }

    /// Elements that are values of properties, such as the muxer that a sink is to use.
    public var propertyElements: [Element] {
        specs.compactMap { spec in
            guard mb_spec_is_element(spec) != 0, mb_spec_is_readable(spec) != 0 else { return nil }
            return mb_get_element(pointer, g_param_spec_get_name(spec)).map {
                Element(adopting: $0)
            }
        }
    }

    var specs: [UnsafeMutablePointer<GParamSpec>] {
        var count: guint = 0
        guard let list = mb_properties(pointer, &count) else { return [] }
        defer { g_free(list) }
        return (0..<Int(count)).compactMap { list[$0] }
    }

    /// The plugin that brings it: `coreelements`; empty for what no factory made.
    public var pluginName: String {
        guard let factory = gst_element_get_factory(pointer) else { return "" }
        return mb_factory_plugin(factory).map { String(cString: $0) } ?? ""
    }

    /// Whether it is a bin and nothing more, such as brackets make.
    public var isPlainBin: Bool { mb_is_plain_bin(pointer) != 0 }

    /// Of a property that is an `int`; `nil` where there is none of that name.
    public func int(_ property: String) -> Int? {
        let value = mb_get_int_or(pointer, property, .min)
        return value == .min ? nil : Int(value)
    }

    /// Whether it is of the string itself, in brackets or not, and no part of another element.
    var isOfString: Bool {
        var child = UnsafeMutableRawPointer(pointer)
        var held: Element?
        defer { withExtendedLifetime(held) {} }
        while let parent = gst_object_get_parent(child.assumingMemoryBound(to: GstObject.self)) {
            let element = Element(
                adopting: UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstElement.self))
            if mb_is_a(parent, gst_pipeline_get_type()) != 0 { return true }
            guard element.isPlainBin else { return false }
            child = UnsafeMutableRawPointer(element.pointer)
            held = element
        }
        return false
    }

    /// Its source pads at this moment.
    public var sourcePads: [Pad] { pads(GST_PAD_SRC) }

    /// Its pads of one direction at this moment.
    func pads(_ direction: GstPadDirection) -> [Pad] {
        let iterator =
            direction == GST_PAD_SRC
            ? gst_element_iterate_src_pads(pointer) : gst_element_iterate_sink_pads(pointer)
        return iteratedObjects(iterator) {
            Pad(retaining: $0.assumingMemoryBound(to: GstPad.self))
        }
    }

    /// Keeps it from following its bin's states from now on.
    func lockState() { gst_element_set_locked_state(pointer, 1) }
}
