internal import CMediaBridge

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
        guard
            let list = gst_registry_get_feature_list(
                gst_registry_get(), gst_element_factory_get_type())
        else { return [] }
        defer { gst_plugin_feature_list_free(list) }
        var names: [String] = []
        var next: UnsafeMutablePointer<GList>? = list
        while let node = next {
            if let name = gst_object_get_name(
                node.pointee.data.assumingMemoryBound(to: GstObject.self))
            {
                names.append(String(cString: name))
                g_free(name)
            }
            next = node.pointee.next
        }
        return names
    }
}
