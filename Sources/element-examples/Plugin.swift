import MediaBridgeElements

/// The function that GStreamer calls when it loads `libgstmediabridge.so`.
@c(gst_plugin_mediabridge_get_desc)
public func plugin() -> UnsafeRawPointer {
    ElementPlugin("mediabridge", version: "0.1.0") {
        Blur.self
        Gain.self
    }.descriptor
}
