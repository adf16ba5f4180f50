internal import CMediaBridge

extension Pipeline {
    /// Elements that keep, show or send what comes to them, at any depth.
    public var sinks: [Element] { elements.filter { $0.isLeaf(GST_ELEMENT_FLAG_SINK) } }

    /// Asks the sources of the string, but for those named, for the end of their streams: what is in the
    /// pipeline passes, and then its sinks complete what they write. Returns at once. Sources that have
    /// ended are left alone.
    ///
    /// - Parameter sparesFiles: Leaves those alone, too, that demuxers and parsers read by themselves:
    ///   they end, and soon.
    package func endSources(besides names: Set<String> = [], sparesFiles: Bool = false) {
        for source in sources where !names.contains(source.name) {
            guard !hasEnded(source, orIsFile: sparesFiles) else { continue }
            // Each on a queue of its own, and none on the control queue: a source that is held up by what
            // is behind it takes the end only when that goes on, and the change to NULL sees to it.
            ControlQueue(label: "mediabridge.ending").post { source.sendEndOfStream() }
        }
    }

    /// Whether every source has ended, or is a file that is read no more than its reader wants.
    package var haveSourcesEnded: Bool { sources.allSatisfy { hasEnded($0, orIsFile: true) } }

    /// Whether there are sources besides those named.
    package func hasSources(besides names: Set<String>) -> Bool {
        sources.contains { !names.contains($0.name) }
    }

    /// Whether it is at PAUSED or PLAYING.
    package var isUp: Bool { element.pointee.current_state.rawValue >= GST_STATE_PAUSED.rawValue }

    /// Has the pipeline fail for a reason that no element knows of. Not under a lock: it is told at once.
    package func fail(_ error: PipelineError) { bus.post(error) }

    /// Those of the string; a bin with sources in it is one.
    private var sources: [Element] {
        iteratedObjects(gst_bin_iterate_sources(bin)) {
            Element(retaining: $0.assumingMemoryBound(to: GstElement.self))
        }
    }

    private func hasEnded(_ source: Element, orIsFile: Bool) -> Bool {
        let inside = source.children.filter { $0.isLeaf(GST_ELEMENT_FLAG_SOURCE) }
        let pads = (inside.isEmpty ? [source] : inside).flatMap(\.sourcePads)
        return !pads.isEmpty && pads.allSatisfy { $0.hasEnded || orIsFile && $0.isPulled }
    }
}

extension Element {
    /// Whether the end of every stream that comes in has been dealt with.
    package var hasTakenEnd: Bool { pads(GST_PAD_SINK).allSatisfy(\.hasEnded) }

    /// Whether anything of a stream has come in, be it only its beginning.
    package var hasBegun: Bool { pads(GST_PAD_SINK).contains(where: \.hasBegun) }

    /// Whether what came last was refused with an error: nothing more will get in.
    package var refusesData: Bool {
        pads(GST_PAD_SINK).contains { pad in
            guard let peer = pad.peer else { return false }
            return gst_pad_get_last_flow_return(peer.pointer).rawValue < GST_FLOW_EOS.rawValue
        }
    }

    /// The elements inside, at any depth; none of what is no bin.
    fileprivate var children: [Element] {
        guard isBin else { return [] }
        return pointer.withMemoryRebound(to: GstBin.self, capacity: 1) { bin in
            iteratedObjects(gst_bin_iterate_recurse(bin)) {
                Element(retaining: $0.assumingMemoryBound(to: GstElement.self))
            }
        }
    }

    private var isBin: Bool { mb_is_a(pointer, gst_bin_get_type()) != 0 }

    fileprivate func isLeaf(_ flag: GstElementFlags) -> Bool {
        !isBin && pointer.pointee.object.flags & flag.rawValue != 0
    }

    /// Blocks while what is behind the source takes nothing.
    fileprivate func sendEndOfStream() {
        gst_element_send_event(pointer, gst_event_new_eos())
    }
}

extension Pad {
    fileprivate var hasBegun: Bool {
        guard let event = gst_pad_get_sticky_event(pointer, GST_EVENT_STREAM_START, 0) else {
            return false
        }
        gst_event_unref(event)
        return true
    }

    /// Whether the element behind it takes data when it wants, on a thread of its own.
    fileprivate var isPulled: Bool { pointer.pointee.mode == GST_PAD_MODE_PULL }
}
