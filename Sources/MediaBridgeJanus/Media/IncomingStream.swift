internal import BridgeEngine
internal import MediaCore
internal import Synchronization

/// The units of one track, or of one user's audio, on their way to the receiver: bounded, counted, and
/// without any that refers to one that is missing.
///
/// Thread: any; units one call at a time.
final class IncomingStream: Sendable {
    private struct State {
        var isOpen = true
        var isMuted = false
        var chain = ReferenceChain()
        var waiting = 0
    }
    /// The most units that wait for the receiver: two seconds or more.
    private static let (videoDepth, audioDepth) = (64, 100)

    private let user: UserID
    private let track: TrackID
    private let tally: UnitTally
    private let inbox: Inbox
    private let state = Mutex(State())

    /// - Parameter track: The track; of no meaning for audio.
    init(_ track: TrackID, of user: UserID, _ tally: UnitTally, to inbox: Inbox) {
        self.user = user
        self.track = track
        self.tally = tally
        self.inbox = inbox
    }

    /// Takes a unit of video.
    ///
    /// - Returns: Whether a key frame is needed.
    func receive(_ unit: EncodedVideoFrame) -> Bool {
        tally.count(\.sent)
        let outcome = state.withLock { state -> Outcome in
            guard state.isOpen, !state.isMuted else { return .closed }
            guard state.chain.admits(unit.references) else {
                _ = state.chain.lose()
                return .needingKeyFrame
            }
            guard state.waiting < Self.videoDepth else {
                _ = state.chain.lose()
                return .evicted
            }
            state.waiting += 1
            return .taken
        }
        settle(outcome) { [user, track] in $0.receive(unit, track: track, from: user) }
        return outcome == .needingKeyFrame || outcome == .evicted
    }

    /// Takes a unit of audio.
    func receive(_ unit: EncodedAudioFrame) {
        tally.count(\.sent)
        let outcome = state.withLock { state -> Outcome in
            guard state.isOpen, !state.isMuted else { return .closed }
            guard state.waiting < Self.audioDepth else { return .evicted }
            state.waiting += 1
            return .taken
        }
        settle(outcome) { [user] in $0.receive(unit, from: user) }
    }

    private enum Outcome { case taken, closed, evicted, needingKeyFrame }

    private func settle(
        _ outcome: Outcome, _ body: @escaping @Sendable (any ChannelReceiver) -> Void
    ) {
        switch outcome {
        case .closed: tally.count(\.closed)
        case .evicted: tally.count(\.evicted)
        case .needingKeyFrame: tally.count(\.needingKeyFrame)
        case .taken:
            inbox.deliver { [self] receiver in
                let isOpen = state.withLock { state in
                    state.waiting -= 1
                    return state.isOpen && !state.isMuted
                }
                guard let receiver, isOpen else { return tally.count(\.closed) }
                tally.count(\.delivered)
                body(receiver)
            }
        }
    }

    /// Lets nothing pass while the sender is muted, nor up to the next key frame.
    func setMuted(_ isMuted: Bool) {
        state.withLock { state in
            state.isMuted = isMuted
            _ = state.chain.lose()
        }
    }

    /// Lets nothing pass up to the next key frame: something was lost, or is to come from the beginning.
    func beginAnew() { state.withLock { _ = $0.chain.lose() } }

    /// Lets nothing pass any more.
    func close() { state.withLock { $0.isOpen = false } }
}
