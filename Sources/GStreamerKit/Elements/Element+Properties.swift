internal import CMediaBridge

/// A string property of an element, which may name a resource outside of the pipeline.
package struct ElementProperty: Sendable {
    /// The property's name, as gst-inspect-1.0 lists it.
    package let name: String
    /// The current value; `nil` if it is unset or cannot be read.
    package let text: String?
    /// The value that the property has if it is never set; `nil` if there is none.
    package let defaultText: String?
    /// False for a write-only property.
    package let isReadable: Bool
}

extension Element {
    /// All writable string properties except `name`.
    package var textProperties: [ElementProperty] {
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

    /// Elements that are values of properties, for example the muxer that a sink is to use.
    package var propertyElements: [Element] {
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

    /// The plugin that contains the element, for example `coreelements`; empty if the element was
    /// not made by a factory.
    package var pluginName: String {
        guard let factory = gst_element_get_factory(pointer) else { return "" }
        return mb_factory_plugin(factory).map { String(cString: $0) } ?? ""
    }

    /// Whether it is a plain GstBin, as parentheses in a pipeline string create, and not a
    /// subclass.
    package var isPlainBin: Bool { mb_is_plain_bin(pointer) != 0 }

    /// Returns the value of an `int` property; `nil` if there is no readable `int` property of that
    /// name.
    package func int(_ property: String) -> Int? {
        let value = mb_get_int_or(pointer, property, .min)
        return value == .min ? nil : Int(value)
    }

    /// Whether the element comes from the pipeline string itself, inside parentheses or not, and is
    /// not an internal part of another element.
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
    package var sourcePads: [Pad] { pads(GST_PAD_SRC) }

    /// Returns its pads of one direction at this moment.
    func pads(_ direction: GstPadDirection) -> [Pad] {
        let iterator =
            direction == GST_PAD_SRC
            ? gst_element_iterate_src_pads(pointer) : gst_element_iterate_sink_pads(pointer)
        return iteratedObjects(iterator) {
            Pad(retaining: $0.assumingMemoryBound(to: GstPad.self))
        }
    }

    /// Locks the element's state: it no longer follows the state changes of its bin.
    func lockState() { gst_element_set_locked_state(pointer, 1) }
}

extension Element {
    /// Calls `body` when a property has changed, on the thread that changes it: it must return at once.
    /// Everything that `body` captures lives as long as the element.
    package func onChange(of property: String, _ body: @escaping @Sendable () -> Void) {
        mb_on_notify(
            pointer, "notify::\(property)",
            { _, _, context in SignalListener<Void>.call(context, ()) },
            SignalListener<Void>.context(body), SignalRelease.function)
    }

    /// Calls `body` with each source pad that the element gets, on the thread that adds it: it must
    /// return at once. Everything that `body` captures lives as long as the element.
    package func onSourcePad(_ body: @escaping @Sendable (Pad) -> Void) {
        mb_on_pad_added(
            pointer,
            { _, pad, context in
                guard let pad, gst_pad_get_direction(pad) == GST_PAD_SRC else { return }
                SignalListener<Pad>.call(context, Pad(retaining: pad))
            }, SignalListener<Pad>.context(body), SignalRelease.function)
    }
}
