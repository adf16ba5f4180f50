internal import CMediaBridge
internal import Glibc

/// Guards against a crash of DirectFB's video sink without a framebuffer: DirectFB gives up, and a
/// thread that it leaves running then reads freed memory (a segmentation fault, in gst-launch-1.0
/// too).
enum Framebuffer {
    /// The factory name of DirectFB's video sink.
    static let sink = "dfbvideosink"

    /// Whether DirectFB can open a framebuffer, or is configured by `DFBARGS` to use another
    /// system.
    static var isThere: Bool {
        if let arguments = getenv("DFBARGS"), arguments.pointee != 0 { return true }
        let named = getenv("FRAMEBUFFER").map { [String(cString: $0)] } ?? []
        return (named + ["/dev/fb0", "/dev/fb/0"]).contains { access($0, R_OK | W_OK) == 0 }
    }

    /// Removes the sink's rank if it would crash, so that `autovideosink` and similar elements do
    /// not choose it.
    static func keepFromBeingChosen() {
        guard !isThere, let factory = gst_element_factory_find(sink) else { return }
        gst_plugin_feature_set_rank(factory, guint(GST_RANK_NONE.rawValue))
        gst_object_unref(UnsafeMutableRawPointer(factory))
    }
}
