import MediaBridgeJanus
import Synchronization
import TestSupport

/// Records a user's channel events, and lets tests wait for them.
final class RoomReceiver: ChannelReceiver {
    enum Event: Hashable, Sendable {
        case joined(UserID)
        case left(UserID, OfflineReason)
        case published(TrackID, UserID)
        case unpublished(TrackID, UserID)
        case message(String, UserID)
        case reconnecting(Int, EngineError.Code)
        case reconnected
        case disconnected(EngineError.Code)
    }
    let events = Observed<[Event]>([])
    /// Called for each event, after it is recorded.
    private let onEvent: @Sendable (Event) -> Void
    private let renewal: (@Sendable (TokenReason) throws(EngineError) -> String?)?
    private let isCalled = Atomic<Bool>(false)
    private let overlaps = Atomic<Bool>(false)

    /// Whether two calls ever overlapped.
    var wasCalledTwice: Bool { overlaps.load(ordering: .relaxed) }

    init(
        renewing renewal: (@Sendable (TokenReason) throws(EngineError) -> String?)? = nil,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.renewal = renewal
        self.onEvent = onEvent
    }

    private func note(_ event: Event) {
        if isCalled.exchange(true, ordering: .acquiringAndReleasing) {
            overlaps.store(true, ordering: .relaxed)
        }
        defer { isCalled.store(false, ordering: .releasing) }
        events.change { $0.append(event) }
        onEvent(event)
    }

    func wait(for event: Event) async { await events.wait { $0.contains(event) } }

    func handle(_ event: MembershipEvent) {
        switch event {
        case .joined(let user): note(.joined(user))
        case .left(let user, let reason): note(.left(user, reason))
        case .published(.video(let track), let user): note(.published(track, user))
        case .unpublished(.video(let track), let user): note(.unpublished(track, user))
        case .published(.audio, _), .unpublished(.audio, _), .muted: break
        case .message(let message, let user): note(.message(message.text, user))
        case .reconnecting(let attempt, let error): note(.reconnecting(attempt, error.code))
        case .reconnected: note(.reconnected)
        case .disconnected(let error): note(.disconnected(error.code))
        }
    }
    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        try renewal?(reason)
    }
}

extension JanusTransport.Configuration {
    /// Deadlines of minutes, so that none decides a test.
    static var patient: Self {
        var configuration = Self()
        configuration.connectTimeout = .hangLimit
        configuration.requestTimeout = .hangLimit
        configuration.silenceTimeout = .hangLimit
        configuration.reconnection.firstDelay = .milliseconds(200)
        configuration.reconnection.longestDelay = .seconds(1)
        configuration.reconnection.returnTimeout = .hangLimit
        return configuration
    }
}

extension JanusTransport {
    /// A transport with long deadlines.
    init(to server: JanusServer) throws {
        try self.init(server: server.url, configuration: .patient)
    }

    /// Joins with a receiver that records its events.
    func join(
        _ channel: String, as user: UserID, token: String? = nil,
        _ receiver: RoomReceiver = RoomReceiver()
    ) async throws -> any ChannelMembership {
        try await join(
            ChannelRequest(channel: channel, token: token, userID: user), receiver: receiver)
    }
}

/// Runs `body`, which must throw an engine error.
///
/// - Returns: The code of the error; `nil` if none was thrown.
func engineError(_ body: () async throws -> Void) async throws -> EngineError? {
    do {
        try await body()
        return nil
    } catch let error as EngineError {
        return error
    }
}
