import CMediaBridge
import GStreamerKit

/// An encoder that takes pictures only in the memory of a device, and the element that moves them there. Software
/// stands in for both: the memory is the system's, and only its name in the caps differs.
enum StandInMemory {
    private static let memory = "memory:CUDAMemory"

    /// Registers `cudaupload` and the encoder, unless a plugin has found the hardware.
    static func register(_ encoder: String, _ software: String) throws {
        try GStreamer.initialize()
        guard gst_element_factory_find(encoder) == nil,
            gst_element_factory_find("cudaupload") == nil
        else { return }
        let upload = type("StandInUpload", gst_base_transform_get_type()) { type, _ in
            StandInMemory.describe(type, sink: "video/x-raw", source: StandInMemory.deviceCaps)
            StandInMemory.transform(type)
        }
        _ = gst_element_register(nil, "cudaupload", 0, upload)
        let download = type("StandInDownload", gst_base_transform_get_type()) { type, _ in
            StandInMemory.describe(type, sink: StandInMemory.deviceCaps, source: "video/x-raw")
            StandInMemory.transform(type)
        }
        _ = gst_element_register(nil, "standindownload", 0, download)
        let bin = type("StandInDevice-\(software)", gst_bin_get_type()) { type, _ in
            StandInMemory.describe(
                type, sink: StandInMemory.deviceCaps + ",format=NV12", source: "video/x-av1")
            type?.assumingMemoryBound(to: GObjectClass.self).pointee.constructed = {
                StandInMemory.fill($0)
            }
        }
        _ = gst_element_register(nil, encoder, 0, bin)
    }

    private static let deviceCaps = "video/x-raw(\(memory))"

    private static func type(
        _ name: String, _ parent: GType, _ initialize: GClassInitFunc
    ) -> GType {
        var query = GTypeQuery()
        g_type_query(parent, &query)
        var info = GTypeInfo()
        info.class_size = guint16(query.class_size)
        info.instance_size = guint16(query.instance_size)
        info.class_init = initialize
        return g_type_register_static(parent, name, &info, GTypeFlags(rawValue: 0))
    }

    private static func describe(_ type: gpointer?, sink: String, source: String) {
        guard let type = type?.assumingMemoryBound(to: GstElementClass.self) else { return }
        gst_element_class_set_metadata(type, "Stand-in", "Codec/Encoder/Video", "Stand-in", "Tests")
        for (name, direction, text) in [
            ("sink", GST_PAD_SINK, sink), ("src", GST_PAD_SRC, source),
        ] {
            let caps = gst_caps_from_string(text)
            gst_element_class_add_pad_template(
                type, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps))
            gst_caps_unref(caps)
        }
    }

    /// Makes a transform pass pictures on, with another memory in their caps.
    private static func transform(_ type: gpointer?) {
        guard let type = type?.assumingMemoryBound(to: GstBaseTransformClass.self) else { return }
        type.pointee.passthrough_on_same_caps = 0
        type.pointee.transform_ip_on_passthrough = 0
        type.pointee.transform_ip = { _, _ in GST_FLOW_OK }
        type.pointee.transform_caps = { element, direction, caps, filter in
            StandInMemory.changed(element, direction, caps, filter)
        }
    }

    private static func changed(
        _ element: UnsafeMutablePointer<GstBaseTransform>?, _ direction: GstPadDirection,
        _ caps: UnsafeMutablePointer<GstCaps>?, _ filter: UnsafeMutablePointer<GstCaps>?
    ) -> UnsafeMutablePointer<GstCaps>? {
        guard let element, let caps else { return nil }
        let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GTypeInstance.self)
        let name = String(cString: g_type_name(object.pointee.g_class.pointee.g_type))
        // The caps of the other pad.
        let isDevice = (name == "StandInUpload") == (direction == GST_PAD_SINK)
        let result = gst_caps_copy(caps)
        for index in 0..<gst_caps_get_size(result) {
            gst_caps_set_features(
                result, index,
                isDevice ? gst_caps_features_from_string(memory) : gst_caps_features_new_empty())
        }
        guard let filter else { return result }
        defer { gst_caps_unref(result) }
        return gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST)
    }

    /// Puts the software into the bin.
    private static func fill(_ object: UnsafeMutablePointer<GObject>?) {
        guard let object else { return }
        let instance = UnsafeMutableRawPointer(object)
        let own = instance.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
        g_type_class_peek_parent(own)?.assumingMemoryBound(to: GObjectClass.self).pointee
            .constructed?(object)
        let name = String(cString: g_type_name(own!.pointee.g_type))
        let software = String(name.dropFirst("StandInDevice-".count))
        let bin = instance.assumingMemoryBound(to: GstBin.self)
        guard let download = gst_element_factory_make("standindownload", nil),
            let encoder = gst_element_factory_make(software, nil)
        else { return }
        for (property, value) in [("usage-profile", "realtime"), ("cpu-used", "8")] {
            gst_util_set_object_arg(
                UnsafeMutableRawPointer(encoder).assumingMemoryBound(to: GObject.self), property,
                value)
        }
        gst_bin_add(bin, download)
        gst_bin_add(bin, encoder)
        gst_element_link(download, encoder)
        let element = instance.assumingMemoryBound(to: GstElement.self)
        for (name, inner) in [("sink", download), ("src", encoder)] {
            let pad = gst_element_get_static_pad(inner, name)
            gst_element_add_pad(element, gst_ghost_pad_new(name, pad))
            gst_object_unref(pad)
        }
    }
}
