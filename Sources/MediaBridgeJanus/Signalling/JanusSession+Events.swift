internal import MediaBasics
internal import Synchronization

// Messages of the server, on the thread of the connection.
extension JanusSession {
    func receive(_ bytes: [UInt8]) {
        guard let message = JanusMessage(bytes) else {
            return state.withLock { $0.ignored.garbage += 1 }
        }
        // An event that answers a request is also delivered as an event, to keep its place among
        // the events.
        if let handle = message.sender, message.transaction == nil || message.plugindata != nil {
            tell(message, handle)
        }
        switch message.janus {
        case "success", "error", "event", "ack": answer(message)
        case "timeout":
            end(JanusFailure(.closed, "the session timed out on the Janus server"))
        case "hangup", "detached", "webrtcup", "media", "slowlink", "trickle":
            if message.sender == nil { state.withLock { $0.ignored.events += 1 } }
        default:
            if message.sender == nil { state.withLock { $0.ignored.events += 1 } }
        }
    }

    private func tell(_ message: JanusMessage, _ handle: Int) {
        let isKnown = state.withLock { state in
            let isKnown = state.end == nil && state.handles.contains(handle)
            if !isKnown { state.ignored.events += 1 }
            return isKnown
        }
        if isKnown { onEvent(.message(message, handle: handle)) }
    }

    private func answer(_ message: JanusMessage) {
        guard let transaction = message.transaction else {
            if message.sender == nil { state.withLock { $0.ignored.events += 1 } }
            return
        }
        if transaction == Self.noTransaction { return }
        let waiting = state.withLock { state -> Waiting? in
            guard let waiting = state.waiting[transaction] else {
                state.ignored.answers += 1
                return nil
            }
            if message.janus == "ack", !waiting.endsWithAck { return nil }
            state.waiting[transaction] = nil
            if waiting.attaches, message.error == nil, let id = message.data?.id {
                state.handles.insert(id)
            }
            return waiting
        }
        guard let waiting else { return }
        waiting.timer.cancel()
        waiting.continuation.resume(returning: Self.result(of: message))
    }

    private static func result(of message: JanusMessage) -> Result<JanusMessage, JanusFailure> {
        if let error = message.error {
            return .failure(JanusFailure(.refused(error.code), error.reason ?? "no reason given"))
        }
        if let data = message.plugindata?.data, let code = data.errorCode {
            return .failure(JanusFailure(.refused(code), data.error ?? "no reason given"))
        }
        return .success(message)
    }

    /// Ends the session: all pending requests fail, and ``Event/ended(_:)`` is delivered.
    func end(_ failure: JanusFailure) {
        let (connection, waiting, heartbeat, isFirst) = state.withLock { state in
            let isFirst = state.end == nil
            if isFirst { state.end = failure }
            defer { (state.connection, state.waiting, state.keepAlive) = (nil, [:], nil) }
            return (state.connection, state.waiting, state.keepAlive, isFirst)
        }
        heartbeat?.cancel()
        connection?.close()
        for one in waiting.values {
            one.timer.cancel()
            one.continuation.resume(returning: .failure(failure))
        }
        if isFirst { onEvent(.ended(failure)) }
    }
}
