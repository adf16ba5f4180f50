internal import CMediaBridge
public import GStreamerKit
internal import Synchronization

/// A plugin of GStreamer whose elements are Swift classes.
///
/// A library with the name `libgstNAME.so` declares it in one expression, and GStreamer finds it in
/// `GST_PLUGIN_PATH`:
/// ```swift
/// @c(gst_plugin_mine_get_desc)
/// public func plugin() -> UnsafeRawPointer {
///     ElementPlugin("mine", elements: [Blur.self, Meter.self]).descriptor
/// }
/// ```
/// A program that contains the classes calls ``register()`` instead. Thread: any. Source: `GstPluginDesc` of GStreamer.
public struct ElementPlugin: Sendable {
    private let name: String
    private let version: String
    private let summary: String
    private let elements: [any MediaElement.Type]

    /// Declares a plugin.
    ///
    /// - Parameters:
    ///   - name: Its name: `mine` for `libgstmine.so`.
    ///   - version: Its version. Default `1.0`.
    ///   - summary: What it contains, in a sentence without a full stop. Default: the names of the elements.
    ///   - elements: The classes of its elements.
    public init(
        _ name: String, version: String = "1.0", summary: String? = nil,
        elements: [any MediaElement.Type]
    ) {
        self.name = name
        self.version = version
        self.elements = elements
        self.summary =
            summary ?? "Elements in Swift: "
            + elements.map { $0.elementName }.joined(separator: ", ")
    }

    /// What GStreamer's loader calls for: a `GstPluginDesc`, which lives as long as the process.
    public var descriptor: UnsafeRawPointer {
        func kept(_ text: String) -> UnsafePointer<gchar> { g_intern_string(text) }
        let descriptor = UnsafeMutablePointer<GstPluginDesc>.allocate(capacity: 1)
        descriptor.initialize(to: GstPluginDesc())
        descriptor.pointee.major_version = gint(GST_VERSION_MAJOR)
        descriptor.pointee.minor_version = gint(GST_VERSION_MINOR)
        descriptor.pointee.name = kept(name)
        descriptor.pointee.description = kept(summary)
        descriptor.pointee.plugin_init = { plugin in
            guard let plugin, let name = gst_plugin_get_name(plugin).map({ String(cString: $0) }),
                let declared = ElementPlugin.loaded.withLock({ $0[name]?.plugin })
            else { return 0 }
            // One class that is wrong does not hide the others.
            var count = 0
            for element in declared.elements {
                do throws(PipelineError) {
                    try ElementClass.register(element, of: name, in: plugin)
                    count += 1
                } catch {
                    g_log_default_handler(
                        "MediaBridge", G_LOG_LEVEL_WARNING, "\(error.description)", nil)
                }
            }
            return count > 0 ? 1 : 0
        }
        descriptor.pointee.version = kept(version)
        // One of the names that GStreamer knows.
        descriptor.pointee.license = kept("Apache 2.0")
        descriptor.pointee.source = kept(name)
        descriptor.pointee.package = kept(name)
        descriptor.pointee.origin = kept("MediaBridge")
        let address = UInt(bitPattern: descriptor)
        Self.loaded.withLock { $0[name] = (self, address) }
        return UnsafeRawPointer(descriptor)
    }

    /// Makes the elements known to GStreamer in this process. A second call does nothing.
    ///
    /// - Throws: `PipelineError` for the first class that cannot be an element; those before it are known.
    public func register() throws(PipelineError) {
        try GStreamer.initialize()
        for element in elements { try ElementClass.register(element, of: name, in: nil) }
    }
}

extension ElementPlugin {
    /// The plugins that were declared, by name: the loader passes no context, and copies the descriptor.
    private static let loaded = Mutex<[String: (plugin: ElementPlugin, descriptor: UInt)]>([:])
}
