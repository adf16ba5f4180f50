internal import CMediaBridge

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
}
