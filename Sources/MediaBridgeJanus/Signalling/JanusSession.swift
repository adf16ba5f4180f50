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

        var total: Int { garbage + answers + events }
    }

    struct Waiting {
        let continuation: CheckedContinuation<Result<JanusMessage, JanusFailure>, Never>
        let timer: OneShotTimer
        /// Whether `ack` is the answer.
        let endsWithAck: Bool
        /// Whether the answer is a new handle.
        let attaches: Bool
    }
    struct State {
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
    let state: Mutex<State>
    let limits: Limits
    let onEvent: @Sendable (Event) -> Void
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
            session.begin(id)
            return session
        } catch {
            session.close()
            throw error
        }
    }

    private func begin(_ id: Int) {
        let heartbeat = Heartbeat(every: limits.keepAlive, on: queue) { [weak self] in
            guard let self else { return }
            Task { await self.keepAlive() }
        }
        state.withLock { state in
            state.id = id
            if state.end == nil { state.keepAlive = heartbeat }
        }
    }

    /// Keeps the session alive on the server.
    private func keepAlive() async {
        do throws(JanusFailure) { try await confirm() } catch {
            end(error)
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
}
