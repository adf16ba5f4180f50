internal import CMediaBridge
internal import Synchronization

/// Which elements of a pipeline's string get pads while data flows, and whether more pads may come.
///
/// The first data of one stream says nothing of the others (`flvdemux` adds a pad when it meets the
/// first tag of a stream): an element has all of its pads once it says so (`no-more-pads`), or once
/// every pad that it has is at its end.
///
/// Thread: any.
final class LatePads: Sendable {
    private struct State {
        /// By address; they live as long as the pipeline, as elements of its string.
        var incomplete: Set<UInt> = []
        var watched: Set<UInt> = []
        var listeners: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())

    /// Whether a branch that nothing is linked to may yet be linked.
    var mayCome: Bool { state.withLock { !$0.incomplete.isEmpty } }

    /// A run begins: every element has its pads before it again.
    func reset() { state.withLock { $0.incomplete = $0.watched } }

    /// Calls `body` each time an element has all of its pads, on a streaming thread.
    func onComplete(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(body) }
    }

    /// Watches an element of the string, which has such pads.
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

    /// A pad appeared: its end may be that of its element.
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

    /// On a streaming thread, with the end stored on the pad already.
    private func ended(_ pad: UnsafeMutablePointer<GstPad>) {
        guard let element = Pad(retaining: pad).element,
            element.sourcePads.allSatisfy({ $0.hasEnded })
        else { return }
        completed(UInt(bitPattern: element.pointer))
    }

    /// An element says that it has exposed every stream that it will (`decodebin3` has no other word).
    func completed(_ element: UInt) {
        let listeners = state.withLock { state in
            state.incomplete.remove(element) == nil ? [] : state.listeners
        }
        for listener in listeners { listener() }
    }
}

extension Pipeline {
    /// Whether elements of the string may yet get pads: demuxers and decoders do while data flows.
    public var mayGetPads: Bool { latePads.mayCome }

    /// Calls `body` when an element of the string has all the pads that it will have in this run, on a
    /// streaming thread. For as long as the pipeline lives.
    public func onPadsComplete(_ body: @escaping @Sendable () -> Void) { latePads.onComplete(body) }

    /// Has `body` judge each link that was to be made when a pad appeared, and never will be. GStreamer
    /// only warns of one (`Delayed linking failed`); without a judge it is an error of the pipeline.
    ///
    /// - Parameter body: Called on a streaming thread. True where it has dealt with it.
    public func onMissedLink(_ body: @escaping @Sendable (MissedLink) -> Bool) {
        bus.judgeMissedLinks(body)
    }
}
