internal import CMediaBridge

extension Element {
    /// Calls `body` when a property has changed, on the thread that changes it: it must return at once.
    /// Everything that `body` captures lives as long as the element.
    package func onChange(of property: String, _ body: @escaping @Sendable () -> Void) {
        mb_on_notify(
            pointer, "notify::\(property)",
            { _, _, context in SignalListener<Void>.call(context, ()) },
            SignalListener<Void>.context(body), SignalRelease.function)
    }

    /// Calls `body` with each source pad that the element gets, on the thread that adds it: it must
    /// return at once. Everything that `body` captures lives as long as the element.
    package func onSourcePad(_ body: @escaping @Sendable (Pad) -> Void) {
        mb_on_pad_added(
            pointer,
            { _, pad, context in
                guard let pad, gst_pad_get_direction(pad) == GST_PAD_SRC else { return }
                SignalListener<Pad>.call(context, Pad(retaining: pad))
            }, SignalListener<Pad>.context(body), SignalRelease.function)
    }
}
