internal import CMediaBridge

/// A camera, microphone, screen or speaker that one of GStreamer's device providers reports.
public struct Device: Hashable, Sendable {
    /// Display name, for example `Integrated Camera`.
    public let name: String
    /// Device class: `Video/Source`, `Audio/Source`, `Audio/Sink` ….
    public let klass: String
    /// The device's path, for example `/dev/video0`; `nil` if it has none.
    public let path: String?

    /// Lists the devices that are present now. May block for a second: call it on a control thread.
    ///
    /// - Parameter klass: Only devices of this class; `nil` for all.
    /// - Throws: ``PipelineError`` if GStreamer cannot start.
    public static func list(klass: String? = nil) throws(PipelineError) -> [Device] {
        try GStreamer.initialize()
        guard let monitor = gst_device_monitor_new() else { return [] }
        defer { gst_object_unref(monitor) }
        if let klass { gst_device_monitor_add_filter(monitor, klass, nil) }
        guard gst_device_monitor_start(monitor) != 0 else { return [] }
        defer { gst_device_monitor_stop(monitor) }
        let list = gst_device_monitor_get_devices(monitor)
        defer { g_list_free(list) }
        var found: [Device] = []
        var node = list
        while let current = node {
            if let data = current.pointee.data {
                found.append(Device(data.assumingMemoryBound(to: GstDevice.self)))
                gst_object_unref(data)
            }
            node = current.pointee.next
        }
        return found
    }

    private init(_ device: UnsafeMutablePointer<GstDevice>) {
        func take(_ text: UnsafeMutablePointer<gchar>?) -> String {
            defer { g_free(text) }
            return text.map { String(cString: $0) } ?? ""
        }
        name = take(gst_device_get_display_name(device))
        klass = take(gst_device_get_device_class(device))
        let properties = gst_device_get_properties(device)
        func text(_ key: String) -> String? {
            mb_structure_string(properties, key).map { String(cString: $0) }
        }
        path = text("device.path") ?? text("api.v4l2.path")
        if let properties { gst_structure_free(properties) }
    }
}
