internal import BridgeEngine
internal import CMediaBridge
internal import CWebRTC
internal import GStreamerKit
internal import Synchronization

/// A data channel of a webrtcbin, which carries the messages of a connection.
///
/// Thread: any.
final class DataChannel: Sendable {
    /// Safe, because the object is thread-safe, and the pointer never changes.
    private nonisolated(unsafe) let pointer: UnsafeMutablePointer<GObject>
    private let waiting = Atomic<Int>(0)
    /// The maximum number of bytes of messages that wait to be sent.
    private static let mostWaitingBytes = 4_000_000
    /// The maximum number of the peer's messages that wait for the observer. Further ones are dropped.
    private static let mostWaiting = 4_096
    /// The maximum size of the peer's messages, in bytes. Longer ones are dropped.
    private static let maximumSize = 65_536
    /// The value of `ready-state` of an open channel.
    private static let open: Int32 = 2

    fileprivate init(adopting pointer: UnsafeMutablePointer<GObject>) { self.pointer = pointer }

    deinit { g_object_unref(pointer) }

    /// The name of the channel, from the side that created it.
    var label: String { String(adopting: mb_get_string(pointer, "label")) ?? "" }

    /// Calls `body` with the observer and each of the peer's messages, one at a time.
    func begin(
        _ events: PeerEvents,
        _ body: @escaping @Sendable (any PeerConnectionObserver, ChannelMessage) -> Void
    ) {
        typealias Listener = SignalListener<ChannelMessage>
        let receive: @Sendable (ChannelMessage) -> Void = { [weak self] message in
            guard let self, message.bytes.count <= Self.maximumSize,
                waiting.load(ordering: .relaxed) < Self.mostWaiting
            else { return }
            waiting.add(1, ordering: .relaxed)
            events.notify { [weak self] observer in
                self?.waiting.subtract(1, ordering: .relaxed)
                body(observer, message)
            }
        }
        mb_channel_on_text(
            pointer,
            { _, text, context in
                Listener.call(context, ChannelMessage(text.map { String(cString: $0) } ?? ""))
            }, Listener.context(receive), SignalRelease.function)
        mb_channel_on_bytes(
            pointer,
            { _, bytes, context in
                var size: gsize = 0
                let start = bytes.flatMap { g_bytes_get_data($0, &size) }
                let content = UnsafeRawBufferPointer(start: start, count: Int(size))
                Listener.call(context, ChannelMessage(Array(content)))
            }, Listener.context(receive), SignalRelease.function)
    }

    /// Sends a message. Does not block.
    ///
    /// - Returns: False if the channel is not open, if its queue is full, or if the message is too long.
    func send(_ message: ChannelMessage) -> Bool {
        guard mb_get_enum(pointer, "ready-state") == Self.open,
            message.bytes.count <= ChannelMessage.maximumSize,
            mb_channel_waiting(pointer) < Self.mostWaitingBytes,
            let bytes = g_bytes_new(message.bytes, gsize(message.bytes.count))
        else { return false }
        mb_channel_send_bytes(pointer, bytes)
        g_bytes_unref(bytes)
        return true
    }
}

extension WebRTCBin {
    /// Creates a data channel, before the offer; `nil` if the connection is closed.
    func createChannel(_ label: String) -> DataChannel? {
        mb_webrtc_create_channel(element.pointer, label).map { DataChannel(adopting: $0) }
    }

    /// Calls `body` with each data channel that the peer creates, on a thread of GStreamer. Everything
    /// that `body` captures lives as long as the element.
    func onChannel(_ body: @escaping @Sendable (DataChannel) -> Void) {
        mb_webrtc_on_channel(
            element.pointer,
            { _, channel, context in
                guard let channel else { return }
                g_object_ref(channel)
                SignalListener<DataChannel>.call(context, DataChannel(adopting: channel))
            }, SignalListener<DataChannel>.context(body), SignalRelease.function)
    }
}
