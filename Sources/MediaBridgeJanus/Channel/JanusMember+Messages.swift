internal import BridgeEngine
internal import FoundationEssentials
internal import MediaBasics

// Messages to other users.
extension JanusMember {
    /// Sends a message after the messages that are already queued. During an interruption it waits
    /// for the connection.
    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        guard phase != .over else { throw Self.left(request) }
        try message.checkSize()
        if let user, !directory.contains(user) {
            throw EngineError(
                .invalidArgument, message: "\(user) is not in channel \(request.channel)")
        }
        guard !outbox.isFull else {
            throw EngineError(
                .invalidState, message: "\(Outbox.capacity) messages are waiting to be sent",
                advice: "wait for the earlier sends to finish")
        }
        let notice = Notice.message(message, to: user, outbox.nextStamp())
        let result = await withCheckedContinuation { continuation in
            outbox.items.append(Outbox.Item(notice: notice, continuation: continuation))
            pumpOutbox()
        }
        try result.get()
    }

    /// Sends the queued messages one at a time, to keep their order; then restores the display
    /// name.
    func pumpOutbox() {
        guard phase == .up, tasks["outbox"] == nil, outbox.items.first != nil else { return }
        tasks["outbox"] = Task { await self.sendOutbox() }
    }

    private func sendOutbox() async {
        defer { tasks["outbox"] = nil }
        while phase == .up, let live, let item = outbox.items.first {
            do throws(JanusFailure) {
                _ = try await live.handle.request([
                    "request": "configure", "display": .string(item.notice.text),
                ])
                guard phase != .over else { return }
                outbox.finishFirst(.success(()))
            } catch {
                guard phase != .over else { return }
                // Without an answer it is unknown whether the message was sent. It is sent again
                // with the same stamp after the connection is restored.
                guard error.code != nil else { return live.session.end(error) }
                outbox.finishFirst(
                    .failure(error.error(for: request, tokens: credentials.tokens)))
            }
        }
        if phase == .up, let live {
            live.handle.post(["request": "configure", "display": .string(request.userID.name)])
        }
    }
}

/// Messages that wait to be sent, the oldest first.
struct Outbox {
    struct Item {
        let notice: Notice
        let continuation: CheckedContinuation<Result<Void, EngineError>, Never>
    }
    /// The maximum number of messages that wait.
    static let capacity = 256
    var items = Fifo<Item>()
    private var lastNumber = 0
    private let sender = UInt64.random(in: .min ... .max)

    var isFull: Bool { items.count >= Self.capacity }

    mutating func nextStamp() -> Notice.Stamp {
        lastNumber += 1
        return Notice.Stamp(sender: sender, number: lastNumber)
    }

    mutating func finishFirst(_ result: Result<Void, EngineError>) {
        items.popFirst()?.continuation.resume(returning: result)
    }

    mutating func fail(with error: EngineError) {
        for item in items.removeAll() { item.continuation.resume(returning: .failure(error)) }
    }
}

/// A notice that a member sends to the other users through its display name: a message, or a
/// voluntary leave. The display name is the only text that Janus 1.1 passes to all members of a
/// room at once, complete and in order.
enum Notice: Hashable, Sendable {
    case message(ChannelMessage, to: UserID?, Stamp)
    case goodbye

    /// Identifies a message, so that receivers detect one that is sent again because its answer was
    /// lost.
    struct Stamp: Hashable, Sendable {
        /// Identifies one membership.
        let sender: UInt64
        let number: Int
    }
    private static let mark = "mediabridge/1"

    var text: String {
        switch self {
        case .goodbye: return "\(Self.mark) goodbye"
        case .message(let message, let user, let stamp):
            let name = user.map { Data($0.name.utf8).base64EncodedString() } ?? "*"
            let bytes = Data(message.bytes).base64EncodedString()
            return "\(Self.mark) message \(stamp.sender) \(stamp.number) \(name) \(bytes)"
        }
    }

    /// - Returns: `nil` for an ordinary display name.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == Self.mark else { return nil }
        if words[1] == "goodbye", words.count == 2 {
            self = .goodbye
            return
        }
        guard words[1] == "message", words.count == 6, let sender = UInt64(words[2]),
            let number = Int(words[3]), let bytes = Data(base64Encoded: String(words[5])),
            bytes.count <= ChannelMessage.maximumSize
        else { return nil }
        var user: UserID?
        if words[4] != "*" {
            guard let name = Data(base64Encoded: String(words[4])) else { return nil }
            user = UserID(String(decoding: name, as: UTF8.self))
        }
        self = .message(
            ChannelMessage(bytes), to: user, Stamp(sender: sender, number: number))
    }
}
