internal import MediaBasics
internal import Synchronization

// Requests and their answers.
extension JanusSession {
    /// Sends a request and returns the answer.
    ///
    /// - Parameters:
    ///   - endsWithAck: Whether `ack` is the answer; otherwise `ack` only announces a later answer.
    ///   - attaches: Whether the answer is a new handle.
    func request(
        _ body: [String: JSONValue], endsWithAck: Bool = false, attaches: Bool = false
    ) async throws(JanusFailure) -> JanusMessage {
        let transaction = try state.withLock { state throws(JanusFailure) in
            if let end = state.end { throw end }
            guard state.waiting.count < limits.waitingRequests else {
                throw JanusFailure(
                    .deadlineExceeded,
                    "\(state.waiting.count) requests are waiting for the Janus server")
            }
            state.lastTransaction += 1
            return "\(state.lastTransaction)"
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start(body, transaction, endsWithAck, attaches, continuation)
            }
        } onCancel: {
            finish(transaction, .failure(JanusFailure(.cancelled, "the request was cancelled")))
        }
        return try result.get()
    }

    private func start(
        _ body: [String: JSONValue], _ transaction: String, _ endsWithAck: Bool,
        _ attaches: Bool,
        _ continuation: CheckedContinuation<Result<JanusMessage, JanusFailure>, Never>
    ) {
        let limit = limits.request
        let timer = OneShotTimer(after: limit) { [weak self] in
            self?.finish(
                transaction,
                .failure(
                    JanusFailure(
                        .deadlineExceeded, "the Janus server did not answer within \(limit)")))
        }
        let failure: JanusFailure? = state.withLock { state in
            if let end = state.end { return end }
            if Task.isCancelled { return JanusFailure(.cancelled, "the request was cancelled") }
            state.waiting[transaction] = Waiting(
                continuation: continuation, timer: timer, endsWithAck: endsWithAck,
                attaches: attaches)
            send(body, transaction, &state)
            return nil
        }
        if let failure { continuation.resume(returning: .failure(failure)) }
    }

    /// Sends a request without waiting for an answer.
    func post(_ body: [String: JSONValue]) {
        state.withLock { state in
            guard state.end == nil else { return }
            send(body, Self.noTransaction, &state)
        }
    }

    /// Called under the lock, so that requests are sent in the order of their numbers.
    private func send(
        _ body: [String: JSONValue], _ transaction: String, _ state: inout State
    ) {
        var body = body
        body["transaction"] = .string(transaction)
        if let token = state.token { body["token"] = .string(token) }
        if let id = state.id, body["session_id"] == nil { body["session_id"] = .number(id) }
        state.connection?.send(JSONValue.text(of: body))
    }

    func finish(_ transaction: String, _ result: Result<JanusMessage, JanusFailure>) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: transaction) }
        waiting?.timer.cancel()
        waiting?.continuation.resume(returning: result)
    }

    /// Ignores all further messages for a handle.
    func forget(_ handle: Int) { state.withLock { _ = $0.handles.remove(handle) } }

    /// The transaction of requests whose answers are ignored.
    static let noTransaction = "0"
}
