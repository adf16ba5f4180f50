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

    /// Whether its elements could take `caps`, as far as their pad templates tell.
    public func canTake(_ caps: Caps) -> Bool {
        guard let factory = gst_element_factory_find(name) else { return false }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        return gst_element_factory_can_sink_any_caps(factory, caps.pointer) != 0
    }

    /// Throws a ``PipelineError/Code/missingElement`` that names the package, unless it is installed.
    public static func require(_ name: String) throws(PipelineError) {
        guard try find(name) == nil else { return }
        throw PipelineError(
            .missingElement, message: "no element \"\(name)\"",
            advice: MissingPlugin(kind: .element, name: name).advice)
    }
}
