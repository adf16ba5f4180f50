internal import CMediaBridge

// MARK: Elements

/// What the registry knows about an element: the first lines that gst-inspect-1.0 prints.
package struct ElementFactory: Hashable, Sendable {
    /// Factory name, for example `videotestsrc`.
    package let name: String
    /// Human-readable name, for example `Video test source`.
    package let longName: String
    /// Element class, for example `Source/Video`.
    package let klass: String
    /// The plugin that contains it, for example `videotestsrc` or `coreelements`.
    package let plugin: String

    /// Looks up an element by its factory name; `nil` if no such element is installed.
    ///
    /// - Throws: ``PipelineError`` if GStreamer cannot start.
    package static func find(_ name: String) throws(PipelineError) -> ElementFactory? {
        try GStreamer.initialize()
        guard let factory = gst_element_factory_find(name) else { return nil }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        return ElementFactory(
            name: name,
            longName: mb_factory_long_name(factory).map { String(cString: $0) } ?? "",
            klass: mb_factory_class(factory).map { String(cString: $0) } ?? "",
            plugin: mb_factory_plugin(factory).map { String(cString: $0) } ?? "")
    }

    /// Throws a ``PipelineError/Code/missingElement`` that names the Debian package, unless the
    /// element is installed.
    package static func require(_ name: String) throws(PipelineError) {
        guard try find(name) == nil else { return }
        throw PipelineError(
            .missingElement, message: "no element \"\(name)\"",
            advice: MissingPlugin(kind: .element, name: name).advice)
    }

    /// Names of all installed elements, in no particular order.
    static var names: [String] {
        names(of: gst_registry_get_feature_list(gst_registry_get(), gst_element_factory_get_type()))
    }

    /// Returns the names of the features in a list, and frees it.
    static func names(of list: UnsafeMutablePointer<GList>?) -> [String] {
        defer { gst_plugin_feature_list_free(list) }
        return items(of: list).compactMap {
            String(adopting: gst_object_get_name($0.assumingMemoryBound(to: GstObject.self)))
        }
    }

    /// Returns whether any sink pad template of the factory accepts some format of `caps`. False if
    /// no such element is installed.
    package func canTake(_ caps: Caps) -> Bool {
        guard let factory = gst_element_factory_find(name) else { return false }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        return gst_element_factory_can_sink_any_caps(factory, caps.pointer) != 0
    }

    /// The direction of a pad.
    enum Direction { case source, sink }

    /// A kind of pad that a factory's elements have or can have.
    struct PadTemplate {
        enum Presence { case always, sometimes, request }
        let presence: Presence
        /// The media types of its caps; empty for ANY.
        let mediaTypes: [String]
    }

    /// Returns the pad templates of one direction; `nil` if no such element is installed.
    static func padTemplates(of factory: String, _ direction: Direction) -> [PadTemplate]? {
        guard (try? GStreamer.initialize()) != nil,
            let factory = gst_element_factory_find(factory)
        else { return nil }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        let wanted = direction == .source ? GST_PAD_SRC : GST_PAD_SINK
        let templates = items(of: gst_element_factory_get_static_pad_templates(factory))
        return templates.compactMap { item -> PadTemplate? in
            let template = item.assumingMemoryBound(to: GstStaticPadTemplate.self)
            guard template.pointee.direction == wanted,
                let caps = gst_static_pad_template_get_caps(template)
            else { return nil }
            let presence: PadTemplate.Presence =
                switch template.pointee.presence {
                case GST_PAD_ALWAYS: .always
                case GST_PAD_REQUEST: .request
                default: .sometimes
                }
            return PadTemplate(presence: presence, mediaTypes: Caps(adopting: caps).mediaTypes)
        }
    }
}

// MARK: Devices

/// A camera, microphone, screen or speaker that one of GStreamer's device providers reports.
package struct Device: Hashable, Sendable {
    /// Display name, for example `Integrated Camera`.
    package let name: String
    /// Device class: `Video/Source`, `Audio/Source`, `Audio/Sink` ….
    package let klass: String
    /// The device's path, for example `/dev/video0`; `nil` if it has none.
    package let path: String?

    /// Lists the devices that are present now. May block for a second: call it on a control thread.
    ///
    /// - Parameter klass: Only devices of this class; `nil` for all.
    /// - Throws: ``PipelineError`` if GStreamer cannot start.
    package static func list(klass: String? = nil) throws(PipelineError) -> [Device] {
        try GStreamer.initialize()
        guard let monitor = gst_device_monitor_new() else { return [] }
        defer { gst_object_unref(monitor) }
        if let klass { gst_device_monitor_add_filter(monitor, klass, nil) }
        guard gst_device_monitor_start(monitor) != 0 else { return [] }
        defer { gst_device_monitor_stop(monitor) }
        let list = gst_device_monitor_get_devices(monitor)
        defer { g_list_free(list) }
        return items(of: list).map { device in
            defer { gst_object_unref(device) }
            return Device(device.assumingMemoryBound(to: GstDevice.self))
        }
    }

    private init(_ device: UnsafeMutablePointer<GstDevice>) {
        name = String(adopting: gst_device_get_display_name(device)) ?? ""
        klass = String(adopting: gst_device_get_device_class(device)) ?? ""
        let properties = gst_device_get_properties(device)
        func text(_ key: String) -> String? {
            mb_structure_string(properties, key).map { String(cString: $0) }
        }
        path = text("device.path") ?? text("api.v4l2.path")
        if let properties { gst_structure_free(properties) }
    }
}
