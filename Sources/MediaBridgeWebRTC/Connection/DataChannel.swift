internal import BridgeEngine
internal import CMediaBridge
internal import CWebRTC
internal import GStreamerKit
internal import Synchronization

/// The messages of a connection, over its data channel.
final class PeerMessages: Sendable {
    private let channel: WebRTCChannel
    private let events: PeerEvents
    private let isOpened = Atomic<Bool>(false)
    private let waiting = Atomic<Int>(0)
    /// The maximum number of bytes of messages that wait to be sent.
    private static let mostWaitingBytes = 4_000_000
    /// The maximum number of the peer's messages that wait for the observer. Further ones are dropped.
    private static let mostWaiting = 4_096

    init(_ channel: WebRTCChannel, _ events: PeerEvents) {
        self.channel = channel
        self.events = events
    }

    func begin() {
        channel.onEvent { [weak self] event in
            switch event {
            case .opened: self?.opened()
            case .closed: break
            case .text(let text): self?.received(ChannelMessage(text))
            case .bytes(let bytes): self?.received(ChannelMessage(bytes))
            }
        }
    }

    private func opened() {
        guard !isOpened.exchange(true, ordering: .relaxed) else { return }
        events.tell { $0.messagesOpened() }
    }

    private func received(_ message: ChannelMessage) {
        guard message.bytes.count <= 65_536,
            waiting.load(ordering: .relaxed) < Self.mostWaiting
        else { return }
        waiting.add(1, ordering: .relaxed)
        events.tell { [weak self] observer in
            self?.waiting.subtract(1, ordering: .relaxed)
            observer.receive(message)
        }
    }

    func send(_ message: ChannelMessage) -> Bool {
        guard channel.isOpen, message.bytes.count <= ChannelMessage.maximumSize,
            channel.waitingBytes < Self.mostWaitingBytes
        else { return false }
        channel.send(message.bytes)
        return true
    }
}

// MARK: - WebRTCChannel

/// A data channel of a webrtcbin.
///
/// Thread: any; messages arrive on threads of GStreamer.
final class WebRTCChannel: Sendable {
    /// Sendable: the object is thread-safe, and the pointer never changes.
    private struct Handle: @unchecked Sendable { let pointer: UnsafeMutablePointer<GObject> }
    private let handle: Handle

    private init(adopting pointer: UnsafeMutablePointer<GObject>) {
        handle = Handle(pointer: pointer)
    }

    deinit { g_object_unref(handle.pointer) }

    /// An event of a channel.
    enum Event: Sendable {
        /// Messages can be sent.
        case opened
        /// The channel is closed.
        case closed
        case text(String)
        case bytes([UInt8])
    }

    /// The state of a channel.
    private enum State {
        static let (open, closed): (Int32, Int32) = (2, 4)
    }

    /// Whether messages can be sent.
    var isOpen: Bool { mb_get_enum(handle.pointer, "ready-state") == State.open }

    /// The number of bytes that wait to be sent.
    var waitingBytes: Int { Int(clamping: mb_channel_waiting(handle.pointer)) }

    /// Calls `body` with each event, on threads of GStreamer; it must return quickly. If the channel
    /// is already open, the first event is delivered before this returns.
    func onEvent(_ body: @escaping @Sendable (Event) -> Void) {
        let listener = Unmanaged.passRetained(Listener(body)).toOpaque()
        mb_on_notify(
            handle.pointer, "notify::ready-state",
            { channel, _, context in
                switch channel.map({ mb_get_enum($0, "ready-state") }) {
                case State.open: WebRTCChannel.tell(context, .opened)
                case State.closed: WebRTCChannel.tell(context, .closed)
                default: break
                }
            }, listener, SignalRelease.function)
        _ = mb_channel_on_text(
            handle.pointer,
            { _, text, context in
                WebRTCChannel.tell(context, .text(text.map { String(cString: $0) } ?? ""))
            }, listener)
        _ = mb_channel_on_bytes(
            handle.pointer,
            { _, bytes, context in
                var size: gsize = 0
                let start = bytes.flatMap { g_bytes_get_data($0, &size) }
                WebRTCChannel.tell(
                    context,
                    .bytes(
                        Array(
                            UnsafeRawBufferPointer(
                                start: start, count: start == nil ? 0 : Int(size)))))
            }, listener)
        if isOpen { body(.opened) }
    }

    private static func tell(_ context: UnsafeMutableRawPointer?, _ event: Event) {
        guard let context else { return }
        Unmanaged<Listener>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.body(event) }
    }

    /// Owned by the handler of `notify::ready-state`. All handlers live as long as the channel.
    private final class Listener: Sendable {
        let body: @Sendable (Event) -> Void
        init(_ body: @escaping @Sendable (Event) -> Void) { self.body = body }
    }

    /// Sends a message. Does not block.
    func send(_ bytes: [UInt8]) {
        guard let message = g_bytes_new(bytes, gsize(bytes.count)) else { return }
        mb_channel_send_bytes(handle.pointer, message)
        g_bytes_unref(message)
    }

    fileprivate static func create(in bin: WebRTCBin, label: String) -> WebRTCChannel? {
        mb_webrtc_create_channel(bin.element.pointer, label).map { WebRTCChannel(adopting: $0) }
    }

    fileprivate convenience init(retaining pointer: UnsafeMutablePointer<GObject>) {
        g_object_ref(pointer)
        self.init(adopting: pointer)
    }
}

extension WebRTCBin {
    /// Creates a data channel, before the offer; `nil` if the connection is closed.
    func createChannel(_ label: String) -> WebRTCChannel? {
        WebRTCChannel.create(in: self, label: label)
    }

    /// Calls `body` with each data channel that the peer creates, on a thread of GStreamer. Everything
    /// that `body` captures lives as long as the element.
    func onChannel(_ body: @escaping @Sendable (WebRTCChannel) -> Void) {
        mb_webrtc_on_channel(
            element.pointer,
            { _, channel, context in
                guard let channel else { return }
                SignalListener<WebRTCChannel>.call(context, WebRTCChannel(retaining: channel))
            }, SignalListener<WebRTCChannel>.context(body), SignalRelease.function)
    }
}
