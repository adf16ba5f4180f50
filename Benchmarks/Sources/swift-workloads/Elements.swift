import CGStreamerApp
import MediaBridgeElements

/// Passes each frame on.
private final class Empty: VideoProcessor, MediaElement, Sendable {
    static let caps = "video/x-raw"
    func process(_ frame: consuming VideoFrame) -> VideoFrame? { frame }
}

/// Inverts the luma of each picture in place.
private final class Negative: VideoProcessor, MediaElement, Sendable {
    static let caps = "video/x-raw, format={ I420, GRAY8 }"

    func process(_ frame: consuming VideoFrame) throws -> VideoFrame? {
        try frame.withMutablePlanes { planes in
            for y in 0..<planes[0].rows {
                var row = planes[0].row(y)
                for x in row.indices { row[x] = ~row[x] }
            }
        }
        return frame
    }
}

// The C names of these states are not imported beside MediaBridgeElements.
private let null = GstState(rawValue: 1)
private let playing = GstState(rawValue: 4)

/// Runs a pipeline as gst-launch-1.0 does, with Swift classes as elements in it.
func runElements(_ text: String) throws {
    try ElementPlugin("workloads", elements: [Empty.self, Negative.self]).register()
    guard let pipeline = gst_parse_launch(text, nil) else { fatalError("no pipeline") }
    gst_element_set_state(pipeline, playing)
    let bus = gst_element_get_bus(pipeline)
    let types = GstMessageType(GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    guard let message = gst_bus_timed_pop_filtered(bus, guint64.max, types),
        message.pointee.type == GST_MESSAGE_EOS
    else { fatalError("the pipeline failed") }
    gst_mini_object_unref(
        UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
    gst_object_unref(bus)
    gst_element_set_state(pipeline, null)
    gst_object_unref(pipeline)
}
