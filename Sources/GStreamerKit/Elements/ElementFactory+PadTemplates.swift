internal import CMediaBridge

extension ElementFactory {
    /// Returns whether any sink pad template of the factory accepts some format of `caps`. False if
    /// no such element is installed.
    package func canTake(_ caps: Caps) -> Bool {
        guard let factory = gst_element_factory_find(name) else { return false }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        return gst_element_factory_can_sink_any_caps(factory, caps.pointer) != 0
    }

    /// The direction of a pad.
    enum Direction { case source, sink }

    /// A kind of pad that a factory's elements have or can have.
    struct PadTemplate {
        enum Presence { case always, sometimes, request }
        let presence: Presence
        /// The media types of its caps; empty for ANY.
        let mediaTypes: [String]
    }

    /// Returns the pad templates of one direction; `nil` if no such element is installed.
    static func padTemplates(of factory: String, _ direction: Direction) -> [PadTemplate]? {
        guard (try? GStreamer.initialize()) != nil,
            let factory = gst_element_factory_find(factory)
        else { return nil }
        defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
        let wanted = direction == .source ? GST_PAD_SRC : GST_PAD_SINK
        var templates: [PadTemplate] = []
        var entry = gst_element_factory_get_static_pad_templates(factory)
        while let here = entry {
            entry = UnsafePointer(here.pointee.next)
            guard let data = here.pointee.data else { continue }
            let template = data.assumingMemoryBound(to: GstStaticPadTemplate.self)
            guard template.pointee.direction == wanted,
                let caps = gst_static_pad_template_get_caps(template)
            else { continue }
            let presence: PadTemplate.Presence =
                switch template.pointee.presence {
                case GST_PAD_ALWAYS: .always
                case GST_PAD_REQUEST: .request
                default: .sometimes
                }
            templates.append(
                PadTemplate(presence: presence, mediaTypes: Caps(adopting: caps).mediaTypes))
        }
        return templates
    }
}
