internal import CMediaBridge
internal import Synchronization

/// Tracks which elements of a pipeline's string get pads while data flows, and whether more pads
/// may appear.
///
/// The first data of one stream says nothing about the others (`flvdemux` adds a pad at the first
/// tag of a stream). An element has all of its pads once it signals `no-more-pads`, or once all of
/// its existing pads have received EOS and it has no more than one input.
///
/// Thread: any.
package final class LatePads: Sendable {
    private struct State {
        /// Elements by address; as elements of the string they live as long as the pipeline.
        var incomplete: Set<UInt> = []
        var watched: Set<UInt> = []
        var listeners: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())

    /// Whether an element may still get pads, so that a branch that is not linked may yet be
    /// linked.
    package var hasPendingElements: Bool { state.withLock { !$0.incomplete.isEmpty } }

    /// Starts a new run, in which every element gets its pads again.
    func reset() { state.withLock { $0.incomplete = $0.watched } }

    /// Calls `body` each time an element has got all of its pads, on a streaming thread. Stays
    /// registered for as long as the pipeline lives.
    package func onComplete(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(body) }
    }

    /// Watches an element of the string that gets pads while data flows.
    func watch(_ element: Element) {
        let id = UInt(bitPattern: element.pointer)
        state.withLock {
            $0.watched.insert(id)
            $0.incomplete.insert(id)
        }
        mb_on_no_more_pads(
            element.pointer,
            { _, context in SignalListener<Void>.call(context, ()) },
            SignalListener<Void>.context { [self] in completed(id) }, SignalRelease.function)
    }

    /// Watches a new pad for EOS: it may be the last pad of its element to end.
    func appeared(_ pad: Pad) {
        pad.addProbe(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) { [self] pad, info in
            if gst_pad_probe_info_get_event(info)?.pointee.type == GST_EVENT_EOS { ended(pad) }
            return GST_PAD_PROBE_OK
        }
    }

    /// Runs on a streaming thread, when the EOS event is already stored on the pad.
    private func ended(_ pad: UnsafeMutablePointer<GstPad>) {
        // With several inputs (rtpbin), the end of one says nothing about the pads of the others.
        guard let element = Pad(retaining: pad).element, element.pads(GST_PAD_SINK).count < 2,
            element.sourcePads.allSatisfy({ $0.hasEnded })
        else { return }
        completed(UInt(bitPattern: element.pointer))
    }

    /// Marks an element as complete: it has exposed all of its streams (`decodebin3` reports this
    /// only with a streams-selected message).
    func completed(_ element: UInt) {
        let listeners = state.withLock { state in
            state.incomplete.remove(element) == nil ? [] : state.listeners
        }
        for listener in listeners { listener() }
    }
}

extension Pipeline {
    /// Calls `body` for each delayed link (one that was to be made when a pad appears) that can
    /// never be made. GStreamer only warns about it (`Delayed linking failed`); without `body` it
    /// is an error of the pipeline.
    ///
    /// - Parameter body: Called on a streaming thread. Returns true if it has handled the missed
    ///   link, which is then only a warning.
    package func onMissedLink(_ body: @escaping @Sendable (MissedLink) -> Bool) {
        bus.filterMissedLinks(body)
    }
}

// MARK: Delayed links

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
    private let choice: LateLinkChoice?

    private init(_ latePads: LatePads?, _ choice: LateLinkChoice?) {
        self.latePads = latePads
        self.choice = choice
    }

    /// Watches `element` for as long as it lives, if it can have such pads.
    static func watch(_ element: Element, _ latePads: LatePads, _ choice: LateLinkChoice?) {
        guard hasLatePads(element) else { return }
        // Elements inside of another element are that element's responsibility.
        let isOfString = element.isOfString
        if isOfString { latePads.watch(element) }
        let links = LateLinks(isOfString ? latePads : nil, isOfString ? choice : nil)
        element.onSourcePad { links.appeared($0) }
    }

    static func hasLatePads(_ element: Element) -> Bool {
        items(of: gst_element_get_pad_template_list(element.pointer)).contains { item in
            let template = item.assumingMemoryBound(to: GstPadTemplate.self).pointee
            return template.direction == GST_PAD_SRC && template.presence == GST_PAD_SOMETIMES
        }
    }

    /// Runs on a streaming thread, after the parser's own handler.
    private func appeared(_ pad: Pad) {
        defer { choice?.finish() }
        latePads?.appeared(pad)
        let name = pad.pointer.pointee.padtemplate?.pointee.name_template
        let template = name.map { String(cString: $0) } ?? ""
        let mediaType = pad.mediaType
        if let receiver = pad.peer {
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
            if pad.link(to: link.receiver) { return }
        }
        choice?.settle(pad)
    }
}

// MARK: Added elements

/// Decides which elements may be in a pipeline. It is asked about each element that is added later
/// (`decodebin` adds some when it knows the stream's format), on the thread that adds it.
package protocol ElementFilter: Sendable {
    /// Returns whether an element of this factory may be autoplugged; if not, the next candidate is
    /// used.
    func allows(factory: String, plugin: String) -> Bool
    /// Checks an element that is added to the pipeline.
    ///
    /// - Throws: ``PipelineError`` with the reason why the element is not allowed. The pipeline
    ///   fails with it.
    func judge(_ element: Element) throws(PipelineError)
}

extension Pipeline {
    /// Asks `judge` about every element that is added from now on, at any depth, for as long as the
    /// pipeline lives. Factories that are not allowed are skipped by autoplugging. An element that
    /// is added all the same makes the pipeline fail, and its state is locked.
    package func watchElements(_ judge: any ElementFilter) {
        let watch = ElementWatch(judge, bus)
        for element in elements { watch.watchChoice(of: element) }
        mb_on_deep_element_added(
            bin,
            { _, _, element, context in
                guard let element else { return }
                SignalListener<Element>.call(context, Element(retaining: element))
            }, SignalListener<Element>.context { watch.added($0) }, SignalRelease.function)
    }
}

/// Context of the signal handlers on a pipeline's bins and elements.
private final class ElementWatch: Sendable {
    private let judge: any ElementFilter
    private let bus: Bus

    init(_ judge: any ElementFilter, _ bus: Bus) {
        self.judge = judge
        self.bus = bus
    }

    func added(_ element: Element) {
        do throws(PipelineError) {
            try judge.judge(element)
            watchChoice(of: element)
        } catch {
            element.lockState()
            bus.post(error)
        }
    }

    /// Skips factories that are not allowed, if the element autoplugs others.
    func watchChoice(of element: Element) {
        let context = Unmanaged.context(self)
        let connected = mb_on_autoplug_select(
            element.pointer,
            { _, _, _, factory, context in
                guard let factory, let context else { return ElementWatch.take }
                let name = mb_factory_name(factory).map { String(cString: $0) } ?? ""
                let plugin = mb_factory_plugin(factory).map { String(cString: $0) } ?? ""
                return Unmanaged<ElementWatch>.ofContext(context)._withUnsafeGuaranteedRef {
                    $0.judge.allows(factory: name, plugin: plugin)
                } ? ElementWatch.take : ElementWatch.skip
            }, context, SignalRelease.function)
        if connected == 0 { SignalRelease.destroy(context) }
    }

    /// Values of GstAutoplugSelectResult, which no header declares.
    private static let take: gint = 0
    private static let skip: gint = 2
}
