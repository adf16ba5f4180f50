internal import MediaCore
internal import Synchronization

/// One membership of the engine in a channel, as the transport's receiver. Events and frames that
/// arrive after its end are ignored.
final class RemoteSession: ChannelReceiver {
    let channel: String
    let user: UserID
    private let side: RemoteParticipants
    private let events: EventHub
    private let renewToken: (@Sendable (TokenReason) async throws -> String?)?
    private let onDisconnect: @Sendable (RemoteSession, EngineError) -> Void
    private let isOver = Atomic<Bool>(false)
    private let isTold = Atomic<Bool>(false)

    init(
        _ request: ChannelRequest, to side: RemoteParticipants, events: EventHub,
        renewingToken renewToken: (@Sendable (TokenReason) async throws -> String?)?,
        onDisconnect: @escaping @Sendable (RemoteSession, EngineError) -> Void
    ) {
        channel = request.channel
        user = request.userID
        self.side = side
        self.events = events
        self.renewToken = renewToken
        self.onDisconnect = onDisconnect
    }

    /// Posts the `joined` event once, before any other event of the channel.
    func noteJoined() {
        guard !isTold.exchange(true, ordering: .relaxed) else { return }
        events.post(.joined(channel: channel, as: user))
    }

    /// Ends the session: later events and frames are ignored.
    func end() {
        isOver.store(true, ordering: .releasing)
        side.clear()
    }

    /// Whether ``noteJoined()`` was called.
    var wasTold: Bool { isTold.load(ordering: .relaxed) }

    private func hear(_ body: (RemoteParticipants) -> Void) {
        guard !isOver.load(ordering: .acquiring) else { return }
        noteJoined()
        body(side)
    }

    // MARK: ChannelReceiver

    func userJoined(_ user: UserID) { hear { $0.userJoined(user) } }

    func userLeft(_ user: UserID, reason: OfflineReason) {
        hear { $0.userLeft(user, reason: reason) }
    }

    func trackPublished(_ track: TrackID, by user: UserID) {
        hear { $0.trackPublished(track, by: user) }
    }

    func trackUnpublished(_ track: TrackID, by user: UserID) {
        hear { $0.trackUnpublished(track, by: user) }
    }

    func receive(_ frame: consuming VideoFrame, track: TrackID, from user: UserID) {
        guard !isOver.load(ordering: .acquiring) else { return }
        side.receive(frame, track: track, from: user)
    }

    func receive(_ unit: EncodedVideoFrame, track: TrackID, from user: UserID) {
        guard !isOver.load(ordering: .acquiring) else { return }
        side.receive(unit, track: track, from: user)
    }

    func trackMuted(_ isMuted: Bool, _ track: TrackID, by user: UserID) {
        hear { $0.trackMuted(isMuted, track, by: user) }
    }

    func receive(_ message: ChannelMessage, from user: UserID) {
        hear { _ in events.post(.messageReceived(message, from: user)) }
    }

    func connectionChanged(_ connection: ChannelConnection) {
        hear { _ in events.post(.connectionChanged(connection)) }
    }

    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        guard let renewToken else { return nil }
        do {
            return try await renewToken(reason)
        } catch {
            throw error as? EngineError
                ?? EngineError(
                    .tokenMissing, message: "cannot renew the token for channel \(channel)",
                    underlying: error)
        }
    }

    func audioPublished(by user: UserID) { hear { $0.audio.published(by: user) } }

    func audioUnpublished(by user: UserID) { hear { $0.audio.unpublished(by: user) } }

    func audioMuted(_ isMuted: Bool, by user: UserID) {
        hear { $0.audio.muted(isMuted, by: user) }
    }

    func receive(_ frame: consuming AudioFrame, from user: UserID) {
        guard !isOver.load(ordering: .acquiring) else { return }
        side.receive(frame, from: user)
    }

    func receive(_ unit: EncodedAudioFrame, from user: UserID) {
        guard !isOver.load(ordering: .acquiring) else { return }
        side.receive(unit, from: user)
    }

    func disconnected(_ error: EngineError) {
        guard !isOver.load(ordering: .acquiring) else { return }
        onDisconnect(self, error)
    }
}
