internal import CMediaBridge
internal import Glibc

/// DirectFB's display, which DirectFB dies of where it is not there: it gives up, and a thread that it
/// leaves behind then reads what is gone (a segmentation fault, in gst-launch-1.0 too).
enum Framebuffer {
    /// The element that would use it.
    static let sink = "dfbvideosink"

    /// Whether DirectFB can have a framebuffer, or was told (`DFBARGS`) to do without.
    static var isThere: Bool {
        if let told = getenv("DFBARGS"), told.pointee != 0 { return true }
        let named = getenv("FRAMEBUFFER").map { [String(cString: $0)] } ?? []
        return (named + ["/dev/fb0", "/dev/fb/0"]).contains { access($0, R_OK | W_OK) == 0 }
    }

    /// Has `autovideosink` and its like not choose it, where it would end the process.
    static func keepFromBeingChosen() {
        guard !isThere, let factory = gst_element_factory_find(sink) else { return }
        gst_plugin_feature_set_rank(factory, guint(GST_RANK_NONE.rawValue))
        gst_object_unref(UnsafeMutableRawPointer(factory))
    }
}
