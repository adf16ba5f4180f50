internal import BridgeEngine

// Messages to other users.
extension JanusMember {
    /// Sends a message after the messages that are already queued. During an interruption it waits
    /// for the connection.
    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        guard phase != .over else { throw Self.left(request) }
        guard message.bytes.count <= ChannelMessage.maximumSize else {
            throw EngineError(
                .invalidArgument,
                message: "a message of \(message.bytes.count) bytes is too long",
                advice: "at most \(ChannelMessage.maximumSize) bytes")
        }
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
            outbox.append(Outbox.Item(notice: notice, continuation: continuation))
            pumpOutbox()
        }
        try result.get()
    }

    /// Sends the queued messages one at a time, to keep their order; then restores the display
    /// name.
    func pumpOutbox() {
        guard phase == .up, tasks["outbox"] == nil, outbox.first != nil else { return }
        tasks["outbox"] = Task { await self.sendOutbox() }
    }

    private func sendOutbox() async {
        defer { tasks["outbox"] = nil }
        while phase == .up, let live, let item = outbox.first {
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
