internal import CMediaBridge
internal import Glibc

extension GStreamer {
    /// Loads every plugin (`libgst*.so`) in a directory, so that pipeline strings can use its elements. A plugin
    /// of the same name elsewhere is replaced. Call it before the strings are parsed. Thread: any but a streaming
    /// thread.
    ///
    /// - Returns: The names of the plugins' elements, in alphabetical order.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/notFound`` if the directory cannot be read or has no
    ///   plugin, ``PipelineError/Code/resourceFailed`` with GStreamer's message for a plugin that cannot be loaded.
    @discardableResult
    public static func loadPlugins(in directory: String) throws(PipelineError) -> [String] {
        try initialize()
        var error: UnsafeMutablePointer<GError>?
        let listing = g_dir_open(directory, 0, &error)
        defer { listing.map { g_dir_close($0) } }
        var files: [String] = []
        while let listing, let name = g_dir_read_name(listing).map({ String(cString: $0) }) {
            if name.hasPrefix("libgst"), name.hasSuffix(".so") { files.append(name) }
        }
        guard !files.isEmpty else {
            let reason = error.map { PipelineError(adopting: $0).message }
            throw PipelineError(
                .notFound,
                message: reason ?? "no plugin in \"\(directory)\": no file is named libgst*.so",
                advice: "the directory of the file libgst*.so")
        }
        var elements: [String] = []
        for file in files.sorted() {
            let path = "\(directory)/\(file)"
            // What GStreamer logs about a failure is in the error.
            let (plugin, _) = LogCapture.during(atLeast: G_LOG_LEVEL_WARNING) {
                gst_plugin_load_file(path, &error)
            }
            guard let plugin else {
                var failure = PipelineError(adopting: error)
                failure.code = .resourceFailed
                if !failure.message.contains(path) {
                    failure.message = "\(path): \(failure.message)"
                }
                failure.advice =
                    "ldd -r \(path) lists missing libraries and symbols; the file must export "
                    + "gst_plugin_\(file.dropFirst(6).dropLast(3))_get_desc"
                throw failure
            }
            let features = gst_registry_get_feature_list_by_plugin(
                gst_registry_get(), gst_plugin_get_name(plugin))
            elements += ElementFactory.names(of: features)
            gst_object_unref(UnsafeMutableRawPointer(plugin))
        }
        return elements.sorted()
    }

    /// Loads another version of a plugin, so that new elements of its factories are of this version. Elements that exist
    /// keep theirs. GStreamer's own loader takes each file name once in a process.
    ///
    /// The version stays in memory until the process ends. Thread: any but a streaming thread.
    ///
    /// - Parameter path: A file `libgst*.so` that was not loaded before.
    /// - Returns: The names of its elements.
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/resourceFailed`` and the reason.
    package static func loadVersion(of path: String) throws(PipelineError) -> [String] {
        try initialize()
        func failure(_ message: String) -> PipelineError {
            PipelineError(.resourceFailed, message: "\(path): \(message)")
        }
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw failure(dlerror().map { String(cString: $0) } ?? "cannot be loaded")
        }
        let file = path.split(separator: "/").last ?? ""
        let name = file.replacing("libgst", with: "").replacing(".so", with: "")
            .replacing("-", with: "_")
        guard let function = dlsym(library, "gst_plugin_\(name)_get_desc") else {
            throw failure("exports no function gst_plugin_\(name)_get_desc")
        }
        typealias Description = @convention(c) () -> UnsafePointer<GstPluginDesc>?
        guard let plugin = unsafeBitCast(function, to: Description.self)()?.pointee,
            let pluginName = plugin.name,
            gst_plugin_register_static(
                plugin.major_version, plugin.minor_version, pluginName, plugin.description,
                plugin.plugin_init, plugin.version, plugin.license, plugin.source, plugin.package,
                plugin.origin) != 0
        else { throw failure("GStreamer does not take it as a plugin") }
        return ElementFactory.names(
            of: gst_registry_get_feature_list_by_plugin(gst_registry_get(), pluginName))
    }
}
