internal import BridgeEngine
internal import GStreamerKit
internal import Synchronization

/// The data channel of a connection.
final class PeerMessages: Sendable {
    private let channel: WebRTCChannel
    private let events: PeerEvents
    private let isOpened = Atomic<Bool>(false)
    private let waiting = Atomic<Int>(0)
    /// The most bytes of messages that wait to be sent.
    private static let mostWaitingBytes = 4_000_000
    /// The most messages of the peer that wait for the observer; those beyond are dropped.
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
