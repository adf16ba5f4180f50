internal import CMediaBridge
internal import Synchronization

/// Tracks which elements of a pipeline's string get pads while data flows, and whether more pads
/// may appear.
///
/// The first data of one stream says nothing about the others (`flvdemux` adds a pad at the first
/// tag of a stream). An element has all of its pads once it signals `no-more-pads`, or once all of
/// its existing pads have received EOS.
///
/// Thread: any.
final class LatePads: Sendable {
    private struct State {
        /// Elements by address; as elements of the string they live as long as the pipeline.
        var incomplete: Set<UInt> = []
        var watched: Set<UInt> = []
        var listeners: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())

    /// Whether an element may still get pads, so that a branch that is not linked may yet be
    /// linked.
    var mayCome: Bool { state.withLock { !$0.incomplete.isEmpty } }

    /// Starts a new run, in which every element gets its pads again.
    func reset() { state.withLock { $0.incomplete = $0.watched } }

    /// Calls `body` each time an element has got all of its pads, on a streaming thread.
    func onComplete(_ body: @escaping @Sendable () -> Void) {
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
            { element, context in
                guard let element, let context else { return }
                Unmanaged<LatePads>.fromOpaque(context)._withUnsafeGuaranteedRef {
                    $0.completed(UInt(bitPattern: element))
                }
            }, Unmanaged.passRetained(self).toOpaque(),
            { context, _ in
                if let context { Unmanaged<LatePads>.fromOpaque(context).release() }
            })
    }

    /// Watches a new pad for EOS: it may be the last pad of its element to end.
    func appeared(_ pad: UnsafeMutablePointer<GstPad>) {
        _ = mb_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
            { pad, info, context in
                guard let pad, let info, let context,
                    gst_pad_probe_info_get_event(info)?.pointee.type == GST_EVENT_EOS
                else { return GST_PAD_PROBE_OK }
                Unmanaged<LatePads>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.ended(pad) }
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(self).toOpaque(),
            { if let context = $0 { Unmanaged<LatePads>.fromOpaque(context).release() } })
    }

    /// Runs on a streaming thread, when the EOS event is already stored on the pad.
    private func ended(_ pad: UnsafeMutablePointer<GstPad>) {
        guard let element = Pad(retaining: pad).element,
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
    /// Whether elements of the string may still get pads: demuxers and decoders do while data
    /// flows.
    package var mayGetPads: Bool { latePads.mayCome }

    /// Calls `body` when an element of the string has got all of its pads in this run, on a
    /// streaming thread. Stays registered for as long as the pipeline lives.
    package func onPadsComplete(_ body: @escaping @Sendable () -> Void) {
        latePads.onComplete(body)
    }

    /// Calls `body` for each delayed link (one that was to be made when a pad appears) that can
    /// never be made. GStreamer only warns about it (`Delayed linking failed`); without `body` it
    /// is an error of the pipeline.
    ///
    /// - Parameter body: Called on a streaming thread. Returns true if it has handled the missed
    ///   link, which is then only a warning.
    package func onMissedLink(_ body: @escaping @Sendable (MissedLink) -> Bool) {
        bus.judgeMissedLinks(body)
    }
}
