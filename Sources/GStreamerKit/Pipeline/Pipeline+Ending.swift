internal import CMediaBridge

extension Pipeline {
    /// Elements that store, display or send data, at any depth.
    package var sinks: [Element] { elements.filter { $0.isLeaf(GST_ELEMENT_FLAG_SINK) } }

    /// Sends EOS into the sources of the string, except those in `names`: the data that is already
    /// in the pipeline passes, and then the sinks finalise what they write. Returns at once.
    /// Sources that have ended are skipped.
    ///
    /// - Parameter sparesFiles: Also skips sources from which demuxers and parsers pull data: they
    ///   reach EOS by themselves, and soon.
    package func endSources(besides names: Set<String> = [], sparesFiles: Bool = false) {
        for source in sources where !names.contains(source.name) {
            guard !hasEnded(source, orIsFile: sparesFiles) else { continue }
            // Each on a separate queue, and not on the control queue: a source whose pushes are
            // blocked downstream takes the event only when they return, which the change to NULL
            // guarantees.
            ControlQueue(label: "mediabridge.ending").post { source.sendEndOfStream() }
        }
    }

    /// Whether every source has ended, or is a file from which data is pulled on demand.
    package var haveSourcesEnded: Bool { sources.allSatisfy { hasEnded($0, orIsFile: true) } }

    /// Returns whether there are sources other than those in `names`.
    package func hasSources(besides names: Set<String>) -> Bool {
        sources.contains { !names.contains($0.name) }
    }

    /// Lets the sources other than those in `names` continue up to a time, and drops what they produce after
    /// it.
    ///
    /// - Parameter toTheirEnd: Sets no limit to sources that end by themselves and are not live.
    /// - Returns: The limits, to be removed before the next run.
    package func limitSources(
        besides names: Set<String>, to end: ClockTime, toTheirEnd: Bool
    ) -> [PadProbe] {
        sources(besides: names, that: toTheirEnd).flatMap(\.sourcePads).map {
            $0.dropBuffers(from: end)
        }
    }

    /// Whether the sources other than those in `names` have ended, or have produced everything up to a time.
    ///
    /// - Parameter toTheirEnd: Whether sources that end by themselves and are not live must have ended.
    package func haveSources(
        besides names: Set<String>, reached end: ClockTime, toTheirEnd: Bool
    ) -> Bool {
        let limited = Set(sources(besides: names, that: toTheirEnd).map(\.name))
        return sources.allSatisfy { source in
            if names.contains(source.name) || hasEnded(source, orIsFile: false) { return true }
            return limited.contains(source.name) && source.reached.map { $0 >= end } ?? true
        }
    }

    /// The progress of the sources other than those in `names`, as a number that grows.
    package func progress(ofSourcesBesides names: Set<String>) -> Int {
        sources.filter { !names.contains($0.name) }
            .reduce(0) { $0 + Int(clamping: ($1.reached?.nanoseconds ?? 0) / 1_000_000) }
    }

    /// The sources other than those in `names`; if `mayEnd`, without sources that end by themselves.
    private func sources(besides names: Set<String>, that mayEnd: Bool) -> [Element] {
        sources.filter { !names.contains($0.name) && !(mayEnd && $0.endsByItself) }
    }

    /// Whether it is at PAUSED or PLAYING.
    package var isUp: Bool { element.pointee.current_state.rawValue >= GST_STATE_PAUSED.rawValue }

    /// Reports a failure of the pipeline that no element posts. Do not hold a lock: listeners are
    /// called before it returns.
    package func fail(_ error: PipelineError) { bus.post(error) }

    /// The sources of the string; a bin that contains sources counts as one.
    private var sources: [Element] { Element.all(of: gst_bin_iterate_sources(bin)) }

    private func hasEnded(_ source: Element, orIsFile: Bool) -> Bool {
        let inside = source.children.filter { $0.isLeaf(GST_ELEMENT_FLAG_SOURCE) }
        let pads = (inside.isEmpty ? [source] : inside).flatMap(\.sourcePads)
        return !pads.isEmpty && pads.allSatisfy { $0.hasEnded || orIsFile && $0.isPulled }
    }
}

extension Element {
    /// The time up to which a source has produced data on all pads; `nil` if no pad reports a position.
    fileprivate var reached: ClockTime? { sourcePads.compactMap { $0.queryPosition() }.min() }

    /// Whether it is not live and reads a file or produces a fixed number of buffers.
    fileprivate var endsByItself: Bool {
        let inside = children.filter { $0.isLeaf(GST_ELEMENT_FLAG_SOURCE) }
        return (inside.isEmpty ? [self] : inside).allSatisfy { source in
            !source.bool("is-live")
                && (source.int("num-buffers") ?? -1 > 0 || source.klass.contains("File"))
        }
    }

    /// Whether EOS has been handled on every sink pad.
    package var hasReachedEnd: Bool { pads(GST_PAD_SINK).allSatisfy(\.hasEnded) }

    /// Whether a stream has started on any sink pad, even if no buffer has arrived.
    package var hasBegun: Bool {
        pads(GST_PAD_SINK).contains { $0.hasPassed(GST_EVENT_STREAM_START) }
    }

    /// Whether the last buffer was refused with a flow error: no more data will get in.
    package var refusesData: Bool {
        pads(GST_PAD_SINK).contains { pad in
            guard let peer = pad.peer else { return false }
            return gst_pad_get_last_flow_return(peer.pointer).rawValue < GST_FLOW_EOS.rawValue
        }
    }

    /// The elements inside, at any depth; empty if it is not a bin.
    fileprivate var children: [Element] {
        isBin ? Element.all(of: gst_bin_iterate_recurse(pointer.cast())) : []
    }

    private var isBin: Bool { mb_is_a(pointer, gst_bin_get_type()) != 0 }

    fileprivate func isLeaf(_ flag: GstElementFlags) -> Bool {
        !isBin && pointer.pointee.object.flags & flag.rawValue != 0
    }

    /// Blocks while the elements downstream of the source accept no data.
    fileprivate func sendEndOfStream() {
        gst_element_send_event(pointer, gst_event_new_eos())
    }
}

extension Pad {
    /// Whether the downstream element pulls data from this pad, on its own thread.
    fileprivate var isPulled: Bool { pointer.pointee.mode == GST_PAD_MODE_PULL }
}
