internal import MediaBasics
internal import Synchronization

/// A session on a Janus server: requests and their answers, handles, keep-alive. It ends with its
/// connection and cannot be resumed.
///
/// Thread: any.
final class JanusSession: Sendable {
    /// Deadlines and limits.
    struct Limits: Sendable {
        var socket = WebSocketLimits()
        /// How long an answer may take.
        var request = Duration.seconds(5)
        /// The interval of keep-alive requests; it must be shorter than the server's
        /// `session_timeout`.
        var keepAlive = Duration.seconds(20)
        /// The maximum number of pending requests.
        var waitingRequests = 1024
    }

    /// An unsolicited event of the server. Events are delivered in order.
    enum Event: Sendable {
        /// A message for a handle.
        case message(JanusMessage, handle: Int)
        /// The session is over.
        case ended(JanusFailure)
    }

    /// The counts of messages that were ignored.
    struct Ignored: Hashable, Sendable {
        /// Messages that are not valid JSON, or not Janus messages.
        var garbage = 0
        /// Answers to requests that were never made, or have ended.
        var answers = 0
        /// Messages about handles that do not exist, or of unknown kinds.
        var events = 0
    }

    private struct Waiting {
        let answer: Once<Result<JanusMessage, JanusFailure>>
        /// Whether `ack` is the answer.
        let endsWithAck: Bool
        /// Whether the answer is a new handle.
        let attaches: Bool
    }
    private struct State {
        var connection: WebSocketConnection?
        var end: JanusFailure?
        var id: Int?
        var token: String?
        var waiting: [String: Waiting] = [:]
        var handles: Set<Int> = []
        var lastTransaction = 0
        var ignored = Ignored()
        var keepAlive: Heartbeat?
    }
    private let state: Mutex<State>
    private let limits: Limits
    private let onEvent: @Sendable (Event) -> Void
    private let queue = SerialQueue(label: "mediabridge.janus.keepalive")

    private init(
        token: String?, _ limits: Limits, onEvent: @escaping @Sendable (Event) -> Void
    ) {
        state = Mutex(State(token: token))
        self.limits = limits
        self.onEvent = onEvent
    }

    /// Connects to a server and opens a session there.
    ///
    /// - Parameters:
    ///   - token: Sent with each request; `nil` for none.
    ///   - onEvent: Called with each event, in order, on a thread of the connection, until
    ///     ``Event/ended(_:)``. Must return quickly.
    static func open(
        _ address: ServerAddress, caFile: String?, token: String?, _ limits: Limits,
        onEvent: @escaping @Sendable (Event) -> Void
    ) async throws(JanusFailure) -> JanusSession {
        let session = JanusSession(token: token, limits, onEvent: onEvent)
        let connection = try await WebSocketConnection.open(
            address, caFile: caFile, limits.socket
        ) { [weak session] in
            session?.receive($0)
        } onEnd: { [weak session] in
            session?.end($0)
        }
        session.state.withLock { state in
            if state.end == nil { state.connection = connection }
        }
        do throws(JanusFailure) {
            let answer = try await session.request(["janus": "create"])
            guard let id = answer.data?.id else {
                throw JanusFailure(.badAnswer, "the Janus server did not create a session")
            }
            let heartbeat = Heartbeat(every: limits.keepAlive, on: session.queue) {
                [weak session] in
                guard let session else { return }
                Task {
                    do throws(JanusFailure) { try await session.confirm() } catch {
                        session.end(error)
                    }
                }
            }
            session.state.withLock { state in
                state.id = id
                if state.end == nil { state.keepAlive = heartbeat }
            }
            return session
        } catch {
            session.close()
            throw error
        }
    }

    /// Checks that the server still accepts the session and its token.
    func confirm() async throws(JanusFailure) {
        _ = try await request(["janus": "keepalive"], endsWithAck: true)
    }

    /// The server's ID of the session.
    var id: Int? { state.withLock { $0.id } }

    /// Why the session is over; `nil` if it is not.
    var failure: JanusFailure? { state.withLock { $0.end } }

    /// The counts of what was ignored so far.
    var ignored: Ignored { state.withLock { $0.ignored } }

    /// The number of pending requests.
    var waitingRequests: Int { state.withLock { $0.waiting.count } }

    /// Uses another token from the next request on.
    func setToken(_ token: String?) { state.withLock { $0.token = token } }

    /// Ends the session without notifying the server. ``Event/ended(_:)`` follows.
    func close() { end(JanusFailure(.closed, "the session was closed by the client")) }

    // MARK: Requests

    /// Sends a request and returns the answer.
    ///
    /// - Parameters:
    ///   - endsWithAck: Whether `ack` is the answer; otherwise `ack` only announces a later answer.
    ///   - attaches: Whether the answer is a new handle.
    func request(
        _ body: [String: JSONValue], endsWithAck: Bool = false, attaches: Bool = false
    ) async throws(JanusFailure) -> JanusMessage {
        let answer = Once<Result<JanusMessage, JanusFailure>>()
        let transaction = try state.withLock { state throws(JanusFailure) in
            if let end = state.end { throw end }
            if Task.isCancelled { throw Self.cancelled }
            guard state.waiting.count < limits.waitingRequests else {
                throw JanusFailure(
                    .deadlineExceeded,
                    "\(state.waiting.count) requests are waiting for the Janus server")
            }
            state.lastTransaction += 1
            let transaction = "\(state.lastTransaction)"
            state.waiting[transaction] = Waiting(
                answer: answer, endsWithAck: endsWithAck, attaches: attaches)
            send(body, transaction, &state)
            return transaction
        }
        answer.expire(after: limits.request)
        if let result = await answer.value(isCancellable: true) { return try result.get() }
        state.withLock { $0.waiting[transaction] = nil }
        if Task.isCancelled { throw Self.cancelled }
        throw JanusFailure(
            .deadlineExceeded, "the Janus server did not answer within \(limits.request)")
    }

    private static var cancelled: JanusFailure {
        JanusFailure(.cancelled, "the request was cancelled")
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

    /// Ignores all further messages for a handle.
    func forget(_ handle: Int) { state.withLock { _ = $0.handles.remove(handle) } }

    /// The transaction of requests whose answers are ignored.
    private static let noTransaction = "0"

    // MARK: Messages of the server, on the thread of the connection

    private func receive(_ bytes: [UInt8]) {
        guard let message = JanusMessage(bytes) else {
            return state.withLock { $0.ignored.garbage += 1 }
        }
        // An event that answers a request is also delivered as an event, to keep its place among
        // the events.
        if let handle = message.sender, message.transaction == nil || message.plugindata != nil {
            let isKnown = state.withLock { state in
                if state.end == nil, state.handles.contains(handle) { return true }
                state.ignored.events += 1
                return false
            }
            if isKnown { onEvent(.message(message, handle: handle)) }
        }
        switch message.janus {
        case "success", "error", "event", "ack": answer(message)
        case "timeout":
            end(JanusFailure(.closed, "the session timed out on the Janus server"))
        default:
            if message.sender == nil { state.withLock { $0.ignored.events += 1 } }
        }
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
        waiting?.answer.resume(Self.result(of: message))
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
        for one in waiting.values { one.answer.resume(.failure(failure)) }
        if isFirst { onEvent(.ended(failure)) }
    }
}

// MARK: - Handles

/// A handle of a session: one participation in the VideoRoom plugin. Thread: any.
struct JanusHandle: Sendable {
    let session: JanusSession
    let id: Int

    /// Attaches to the VideoRoom plugin.
    static func attach(to session: JanusSession) async throws(JanusFailure) -> JanusHandle {
        let answer = try await session.request(
            ["janus": "attach", "plugin": "janus.plugin.videoroom"], attaches: true)
        guard let id = answer.data?.id else {
            throw JanusFailure(.badAnswer, "the Janus server did not create a handle")
        }
        return JanusHandle(session: session, id: id)
    }

    /// Sends a request to the plugin and returns its answer.
    func request(
        _ body: [String: JSONValue], jsep: (type: String, sdp: String)? = nil
    ) async throws(JanusFailure) -> JanusMessage {
        try await session.request(message(body, jsep))
    }

    /// Sends a request to the plugin without waiting for an answer.
    func post(_ body: [String: JSONValue]) { session.post(message(body, nil)) }

    private func message(
        _ body: [String: JSONValue], _ jsep: (type: String, sdp: String)?
    ) -> [String: JSONValue] {
        var message: [String: JSONValue] = [
            "janus": "message", "handle_id": .number(id), "body": .object(body),
        ]
        if let jsep { message["jsep"] = ["type": .string(jsep.type), "sdp": .string(jsep.sdp)] }
        return message
    }

    /// Detaches the handle: its participant leaves the room.
    func detach() {
        session.post(["janus": "detach", "handle_id": .number(id)])
        session.forget(id)
    }
}
