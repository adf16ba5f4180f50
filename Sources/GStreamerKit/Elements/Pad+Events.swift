internal import CMediaBridge

extension Pad {
    /// Calls `body` for every event on this sink pad, on the streaming thread. `body` must return at
    /// once; the event is valid only during the call. Everything that `body` captures lives as long
    /// as the pad. Call it before data flows.
    func onEvent(_ body: @escaping @Sendable (UnsafeMutablePointer<GstEvent>) -> Void) {
        PadFunctions.of(self).onEvent(body)
    }
}
