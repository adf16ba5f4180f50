internal import CMediaBridge

/// What the registry knows of an element; the first lines of gst-inspect-1.0.
public struct ElementFactory: Hashable, Sendable {
    /// `videotestsrc`
    public let name: String
    /// `Video test source`
    public let longName: String
    /// `Source/Video`
    public let klass: String
    /// The plugin that brings it: `videotestsrc`, `coreelements`.
    public let plugin: String

    /// `nil` where no such element is installed.
    ///
    /// - Throws: ``PipelineError`` where GStreamer cannot start.
    public static func find(_ name: String) throws(PipelineError) -> ElementFactory? {
        try GStreamer.initialize()
        guard let factory = gst_element_factory_find(name) else { return nil }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        return ElementFactory(
            name: name,
            longName: mb_factory_long_name(factory).map { String(cString: $0) } ?? "",
            klass: mb_factory_class(factory).map { String(cString: $0) } ?? "",
            plugin: mb_factory_plugin(factory).map { String(cString: $0) } ?? "")
    }

    /// Throws a ``PipelineError/Code/missingElement`` that names the package, unless it is installed.
    public static func require(_ name: String) throws(PipelineError) {
        guard try find(name) == nil else { return }
        throw PipelineError(
            .missingElement, message: "no element \"\(name)\"",
            advice: MissingPlugin(kind: .element, name: name).advice)
    }

    /// Every element that is installed, in no order.
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
