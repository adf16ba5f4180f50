import MediaBridgeElements

/// The function that GStreamer calls when it loads `libgstmediabridge.so`.
@c(gst_plugin_mediabridge_get_desc)
public func plugin() -> UnsafeRawPointer {
    ElementPlugin(
        "mediabridge", version: "0.1.0",
        elements: [Ball.self, Blur.self, Gain.self, Meter.self, Y4MWriter.self]
    ).descriptor
}
