internal import CMediaBridge

// What receivers do differently in a capture than by themselves.

extension Pipeline {
    /// Makes depayloaders of H.264 and H.265 deliver byte streams to parsers, at any depth, for as long
    /// as the pipeline lives. Call it before data flows.
    ///
    /// By themselves they deliver parameter sets in the caps only. Each change of these, even a harmless
    /// one, is then a change of the caps, and with equal RTP timestamps these apply to the wrong
    /// pictures. In a byte stream, parameter sets are where the sender put them.
    package func preferByteStreams() {
        for element in elements { element.preferByteStream() }
        onElement { $0.preferByteStream() }
    }

    /// Makes decoders of streams from connections show nothing before the first key frame, at any depth, for as
    /// long as the pipeline lives: by themselves, those of libav show grey pictures.
    package func hideUndecodablePictures() {
        for element in elements { hideUndecodablePictures(of: element) }
        onElement { [weak self] in self?.hideUndecodablePictures(of: $0) }
    }

    private func hideUndecodablePictures(of element: Element) {
        guard element.bool("output-corrupt"), elements.contains(where: \.readsConnection) else {
            return
        }
        element.set("output-corrupt", "false")
    }

    /// Calls `body` with every element that is added from now on, at any depth, on the thread that adds it.
    private func onElement(_ body: @escaping @Sendable (Element) -> Void) {
        mb_on_deep_element_added(
            bin,
            { _, _, element, context in
                guard let element else { return }
                SignalListener<Element>.call(context, Element(retaining: element))
            }, SignalListener<Element>.context(body), SignalRelease.function)
    }

    /// Copies the buffers of each shmsrc. A peer that comes back delivers nothing while a buffer of its earlier
    /// connection is in use: a frame that the program keeps, a sink's last sample. Call it before data flows.
    package func copySharedMemory() {
        for source in elements where source.factoryName == "shmsrc" {
            source.pad("src")?.addProbe(GST_PAD_PROBE_TYPE_BUFFER) { _, info in
                mb_pad_probe_copy_buffer(info)
                return GST_PAD_PROBE_OK
            }
        }
    }

    /// Sends a request to the server of each rtspsrc that plays, at any depth. Returns at once.
    ///
    /// GStreamer 1.22 and 1.26 send nothing over TCP, and the server ends the session after its timeout.
    /// A server that does not know the parameter answers with an error, which has no effect.
    package func keepSessions() {
        for element in elements where element.factoryName == "rtspsrc" {
            let state = element.pointer.pointee
            // After the end, the request would fail, and with it the pipeline.
            guard state.current_state == GST_STATE_PLAYING, element.bool("do-rtsp-keep-alive"),
                element.sourcePads.contains(where: { !$0.hasEnded })
            else { continue }
            mb_request_parameter(element.pointer, "keep-alive")
        }
    }
}

extension Element {
    private static let depayloaders = ["rtph264depay": "h264", "rtph265depay": "h265"]

    fileprivate func preferByteStream() {
        guard let codec = Self.depayloaders[factoryName], let pad = pad("src"),
            let form = try? Caps("video/x-\(codec),stream-format=byte-stream,alignment=au")
        else { return }
        PadFunctions.of(pad).answerQueries(of: GST_QUERY_CAPS) { query, pad in
            let pad = Pad(retaining: pad)
            guard pad.caps == nil, let parsers = pad.parsersBehind, !parsers.isEmpty,
                pad.peerCaps(of: form)?.isEmpty == false
            else { return false }
            // Parameter sets of the session description come once, before the first picture.
            for parser in parsers where parser.int("config-interval") == 0 {
                parser.set("config-interval", "-1")
            }
            gst_query_set_caps_result(query, form.pointer)
            return true
        }
    }
}

extension Pad {
    /// The parsers that this source pad's stream reaches first; `nil` if it reaches something else.
    fileprivate var parsersBehind: [Element]? {
        guard let element = peer?.element else { return nil }
        if element.klass.contains("Parser") { return [element] }
        let next = element.sourcePads.map(\.parsersBehind)
        guard !next.isEmpty, !next.contains(where: { $0 == nil }) else { return nil }
        return next.compactMap(\.self).flatMap(\.self)
    }
}
