package import CMediaBridge

extension GStreamer {
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
            self.init(retaining: object.cast())
        }

        deinit { gst_object_unref(pointer) }

        /// The name within its bin: `filesrc0`, or the value of `name=` in the pipeline string.
        public var name: String { String(adopting: gst_object_get_name(pointer.cast())) ?? "" }

        /// The path in the object hierarchy, for example `/GstPipeline:pipeline0/GstFileSrc:filesrc0`.
        package var path: String { Self.path(of: pointer) }

        /// The name of the factory that made it, for example `filesrc`; empty for a plain bin.
        public var factoryName: String { textOfFactory(mb_factory_name) }

        /// The element's class, for example `Source/File` or `Codec/Muxer`; empty if no factory made
        /// it.
        package var klass: String { textOfFactory(mb_factory_class) }

        /// Returns a text about the factory that made the element; empty if no factory made it.
        private func textOfFactory(_ text: (OpaquePointer?) -> UnsafePointer<gchar>?) -> String {
            gst_element_get_factory(pointer).flatMap(text).map { String(cString: $0) } ?? ""
        }

        /// Returns whether the element has a property of that name.
        package func hasProperty(_ name: String) -> Bool { mb_property(pointer, name) != nil }

        /// Returns those of some properties (`name=value name=value`) that the elements of a factory have; all of them if
        /// no such element is installed.
        package static func known(_ properties: String, of factory: String) -> String {
            guard let made = gst_element_factory_make(factory, nil) else { return properties }
            gst_object_ref_sink(made)
            let element = Element(adopting: made)
            return properties.split(separator: " ").filter { property in
                element.hasProperty(String(property.prefix { $0 != "=" }))
            }.joined(separator: " ")
        }

        /// Sets a property from text, as gst-launch does. Does nothing if the element has no such
        /// property.
        public func set(_ property: String, _ value: String) {
            guard hasProperty(property) else { return }
            gst_util_set_object_arg(pointer.cast(), property, value)
        }

        /// Sets a string property to exactly `value`, whereas gst-launch interprets quotes and
        /// backslashes. Does nothing if the element has no such property, or if it is not a string.
        package func set(literally property: String, _ value: String) {
            guard mb_property_is_string(pointer, property) != 0 else { return }
            mb_set_string(pointer, property, value)
        }

        func set(_ property: String, _ caps: Caps) { mb_set_caps(pointer, property, caps.pointer) }

        /// Returns the value of a string property; `nil` if there is no readable string property of
        /// that name, or if it is unset.
        public func string(_ property: String) -> String? {
            guard mb_property_is_string(pointer, property) != 0 else { return nil }
            return String(adopting: mb_get_string(pointer, property))
        }

        /// Returns the value of a boolean property; false if there is no readable boolean property of
        /// that name.
        package func bool(_ property: String) -> Bool {
            mb_property_is_bool(pointer, property) != 0 && mb_get_bool(pointer, property) != 0
        }

        /// Returns the value of a 32-bit unsigned integer property; zero if there is no readable
        /// property of that name and type.
        package func uint(_ property: String) -> Int {
            mb_property_is_uint(pointer, property) != 0 ? Int(mb_get_uint(pointer, property)) : 0
        }

        /// The static sink pad of the stream that the element passes on; overlays have another one for
        /// their text. `nil` if it has none, or several of equal rank.
        var mainSinkPad: Pad? { pad("sink") ?? pad("video_sink") }

        /// The sink pads whose raw format decides on that of the source pads: that of a filter, converter or tee, or
        /// all those of a mixer or selector. Empty if something else decides: a decoder or parser, a bin, or the caps
        /// that capssetter has.
        var passedSinkPads: [Pad] {
            let others = ["Codec", "Bin", "Mux", "Demux", "Payloader"]
            guard pointer.pointee.numsrcpads == 1 || factoryName == "tee",
                factoryName != "capssetter",
                !others.contains(where: klass.contains)
            else { return [] }
            if let mainSinkPad { return [mainSinkPad] }
            guard negotiatesBothSides || klass == "Generic" else { return [] }
            return items(of: pointer.pointee.sinkpads).map {
                Pad(retaining: $0.assumingMemoryBound(to: GstPad.self))
            }
        }

        /// Whether the element belongs to a class that takes any input from which it can make a requested output.
        var negotiatesBothSides: Bool {
            mb_is_a(pointer, g_type_from_name("GstBaseTransform")) != 0
                || mb_is_a(pointer, g_type_from_name("GstVideoAggregator")) != 0
        }

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

        static func path(of object: UnsafeMutableRawPointer) -> String {
            String(adopting: mb_object_path(object)) ?? ""
        }

        /// Returns the elements of an iterator, in no particular order, and frees the iterator.
        static func all(of iterator: UnsafeMutablePointer<GstIterator>?) -> [Element] {
            iteratedObjects(iterator) {
                Element(retaining: $0.assumingMemoryBound(to: GstElement.self))
            }
        }
    }
}

/// `GStreamer.Element` inside this package.
package typealias Element = GStreamer.Element

extension PipelineError {
    /// A function that parses an error or a warning: `gst_message_parse_error` for example.
    typealias MessageParser = (
        UnsafeMutablePointer<GstMessage>?,
        UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
        UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
    ) -> Void

    /// Converts the error or the warning of a bus message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - parse: GStreamer's function for the type of the message.
    ///   - missing: The missing plugin that was reported before, if any.
    init(
        _ message: UnsafeMutablePointer<GstMessage>,
        parse: MessageParser = gst_message_parse_error, missing: MissingPlugin? = nil
    ) {
        var error: UnsafeMutablePointer<GError>?
        var debug: UnsafeMutablePointer<gchar>?
        parse(message, &error, &debug)
        self.init(
            adopting: error, element: message.pointee.src.map { Element.path(of: $0) },
            debug: String(adopting: debug), missing: missing)
    }
}

// MARK: Properties

extension Element {
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
    package var pluginName: String { textOfFactory(mb_factory_plugin) }

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
        var child = self
        while let parent = withExtendedLifetime(
            child, { gst_object_get_parent($0.pointer.cast()) })
        {
            child = Element(adopting: parent.cast())
            if mb_is_a(parent, gst_pipeline_get_type()) != 0 { return true }
            guard child.isPlainBin else { return false }
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
