internal import CMediaBridge
internal import Synchronization

/// Makes delayed links, which are made when a pad appears (`decodebin ! videoconvert`), in every
/// run of a pipeline.
///
/// GStreamer's parser makes such a link once, in the first run, and forgets it: a second run would
/// fail with "not linked". So the links of the first run are recorded and made again.
final class LateLinks: Sendable {
    private struct Link {
        /// The name of the source pad's template: `src_%u`, `audio_%u`.
        let template: String
        /// The media type of the stream.
        let mediaType: String
        let receiver: Pad
    }
    private let links = Mutex<[Link]>([])
    private let latePads: LatePads?

    private init(_ latePads: LatePads?) { self.latePads = latePads }

    /// Watches `element` for as long as it lives, if it can have such pads.
    static func watch(_ element: Element, _ latePads: LatePads) {
        guard hasLatePads(element) else { return }
        // Elements inside of another element are that element's responsibility.
        let isOfString = element.isOfString
        if isOfString { latePads.watch(element) }
        mb_on_pad_added(
            element.pointer,
            { _, pad, context in
                guard let pad, let context else { return }
                Unmanaged<LateLinks>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.appeared(pad)
                }
            }, Unmanaged.passRetained(LateLinks(isOfString ? latePads : nil)).toOpaque(),
            { context, _ in
                if let context { Unmanaged<LateLinks>.fromOpaque(context).release() }
            })
    }

    static func hasLatePads(_ element: Element) -> Bool {
        var next = gst_element_get_pad_template_list(element.pointer)
        while let node = next {
            let template = node.pointee.data.assumingMemoryBound(to: GstPadTemplate.self).pointee
            if template.direction == GST_PAD_SRC, template.presence == GST_PAD_SOMETIMES {
                return true
            }
            next = node.pointee.next
        }
        return false
    }

    /// Runs on a streaming thread, after the parser's own handler.
    private func appeared(_ pad: UnsafeMutablePointer<GstPad>) {
        guard gst_pad_get_direction(pad) == GST_PAD_SRC else { return }
        latePads?.appeared(pad)
        let name = pad.pointee.padtemplate?.pointee.name_template
        let template = name.map { String(cString: $0) } ?? ""
        let caps = gst_pad_get_current_caps(pad) ?? gst_pad_query_caps(pad, nil)
        let mediaType = caps.map { Caps(adopting: $0).mediaType } ?? ""
        if let receiver = gst_pad_get_peer(pad).map({ Pad(adopting: $0) }) {
            links.withLock { links in
                guard !links.contains(where: { $0.receiver.pointer == receiver.pointer }) else {
                    return
                }
                links.append(
                    Link(template: template, mediaType: mediaType, receiver: receiver))
            }
            return
        }
        // A receiver that accepts any caps must not get a different stream than in the first run.
        let alike = links.withLock { $0 }.filter { $0.template == template }
        for link in alike.filter({ $0.mediaType == mediaType })
            + alike.filter({ $0.mediaType != mediaType })
        where !link.receiver.isLinked {
            if gst_pad_link(pad, link.receiver.pointer) == GST_PAD_LINK_OK { return }
        }
    }
}
