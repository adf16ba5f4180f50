internal import CMediaBridge
internal import MediaBasics
internal import Synchronization

extension Pipeline {
    /// Replaces each element of a factory by a new one, which the present factory of that name makes, with the
    /// property values of the old one. Done between two buffers: none is lost or repeated. Returns when the old
    /// elements are released.
    ///
    /// An element that plays with its first factory goes on with it after another plugin has brought a new one.
    ///
    /// - Returns: The names of the elements that were replaced: filters, with one linked pad on either side.
    package func replaceElements(of factory: String) throws(PipelineError) -> [String] {
        var names: [String] = []
        for old in elements where old.factoryName == factory && old.isReplaceable {
            let name = old.name
            try old.replace()
            names.append(name)
        }
        return names
    }
}

extension Element {
    /// Whether it has one pad on either side, both linked.
    fileprivate var isReplaceable: Bool {
        pointer.pointee.numsinkpads == 1 && pointer.pointee.numsrcpads == 1
            && pad("sink")?.peer != nil && pad("src")?.peer != nil
    }

    fileprivate func replace() throws(PipelineError) {
        guard let upstream = pad("sink")?.peer,
            let made = gst_element_factory_make(factoryName, nil)
        else {
            throw PipelineError(
                .stateChangeFailed, element: path,
                message: "no new element \(factoryName) can be made")
        }
        gst_object_ref_sink(made)
        let new = Element(adopting: made)
        new.copyProperties(of: self)
        let done = MonotonicSignal()
        let isLinked = Mutex(false)
        // Called when no buffer is between the pad and its peer: at once, or on the streaming thread.
        let probe = upstream.addProbe(GST_PAD_PROBE_TYPE_IDLE) { [self] _, _ in
            isLinked.withLock { $0 = exchange(for: new) }
            done.signal()
            return GST_PAD_PROBE_REMOVE
        }
        guard done.wait(for: .seconds(10).asDefaultDeadline) else {
            probe.remove()
            throw PipelineError(
                .stateChangeFailed, element: path,
                message: "the element is not replaced: it still has a buffer")
        }
        gst_element_set_state(pointer, GST_STATE_NULL)
        guard isLinked.withLock({ $0 }) else {
            throw PipelineError(
                .stateChangeFailed, element: path,
                message: "the new element cannot be linked in its place")
        }
    }

    /// Puts another element in the place of this one, with the same name. No data flows meanwhile.
    private func exchange(for new: Element) -> Bool {
        guard let upstream = pad("sink")?.peer, let downstream = pad("src")?.peer,
            let parent = gst_object_get_parent(pointer.cast())
        else { return false }
        defer { gst_object_unref(parent) }
        let bin = UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstBin.self)
        gst_element_unlink(upstream.element?.pointer, pointer)
        gst_element_unlink(pointer, downstream.element?.pointer)
        let name = name
        guard gst_bin_remove(bin, pointer) != 0 else { return false }
        gst_object_set_name(new.pointer.cast(), name)
        guard gst_bin_add(bin, new.pointer) != 0, let sink = new.pad("sink"),
            let source = new.pad("src"),
            gst_pad_link(source.pointer, downstream.pointer) == GST_PAD_LINK_OK,
            gst_element_sync_state_with_parent(new.pointer) != 0,
            gst_pad_link(upstream.pointer, sink.pointer) == GST_PAD_LINK_OK
        else { return false }
        return true
    }

    /// Gives this element the values of another one's properties, as text: the types of enumerations are those of
    /// their classes. A value that it does not accept is left out.
    private func copyProperties(of other: Element) {
        for property in other.properties where !["name", "parent"].contains(property.name) {
            guard let text = property.text, let mine = try? self.property(property.name),
                mine.text != text, mine.refusal == nil
            else { continue }
            _ = try? setProperty(property.name, to: text)
        }
    }
}
