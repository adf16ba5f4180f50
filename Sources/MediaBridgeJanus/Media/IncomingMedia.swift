internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// Routes the encoded frames of one remote participant to the streams that want them. Thread: any.
final class IncomingMedia: Sendable {
    private struct State {
        var video: IncomingStream?
        var audio: IncomingStream?
        var connection: PeerConnection?
        var asked: ContinuousClock.Instant?
    }
    /// The minimum time between two keyframe requests.
    private static let keyFrameInterval = Duration.milliseconds(500)

    let feed: FeedID
    private let state = Mutex(State())

    init(_ feed: FeedID) { self.feed = feed }

    /// Sets the streams that receive frames from now on. Frames without a stream are discarded.
    func setStreams(video: IncomingStream?, audio: IncomingStream?) {
        let before = state.withLock { state in
            defer { (state.video, state.audio) = (video, audio) }
            return (state.video, state.audio)
        }
        withExtendedLifetime(before) {}
    }

    /// Whether the video is wanted.
    var wantsVideo: Bool { state.withLock { $0.video != nil } }

    func setConnection(_ connection: PeerConnection?) {
        let before = state.withLock { state in
            defer { (state.connection, state.asked) = (connection, nil) }
            // The stream of another connection does not continue the previous one.
            state.video?.beginAnew()
            return state.connection
        }
        withExtendedLifetime(before) {}
    }

    func receive(_ unit: EncodedVideoFrame) {
        guard let video = state.withLock({ $0.video }) else { return }
        if video.receive(unit) { requestKeyFrame() }
    }

    func receive(_ unit: EncodedAudioFrame) {
        state.withLock { $0.audio }?.receive(unit)
    }

    /// Requests a keyframe, unless one was requested within the minimum interval.
    func requestKeyFrame() {
        let connection = state.withLock { state -> PeerConnection? in
            let now = ContinuousClock.now
            if let last = state.asked, now - last < Self.keyFrameInterval { return nil }
            guard let connection = state.connection else { return nil }
            state.asked = now
            return connection
        }
        connection?.requestKeyFrame()
    }
}

/// The encoded frames of one track, or of one user's audio, on their way to the receiver. The
/// stream limits and counts the waiting frames, and drops frames that refer to a missing one.
///
/// Thread: any; frames one call at a time.
final class IncomingStream: Sendable {
    private struct State {
        var isOpen = true
        var isMuted = false
        var chain = ReferenceChain()
        var waiting = 0
    }
    private enum Outcome { case taken, closed, evicted, needingKeyFrame }
    /// The maximum number of frames that wait for the receiver: two seconds or more.
    private static let (videoDepth, audioDepth) = (64, 100)

    private let user: UserID
    private let track: TrackID
    private let tally: UnitTally
    private let inbox: Inbox
    private let state = Mutex(State())

    /// - Parameter track: The track; ignored for audio.
    init(_ track: TrackID, of user: UserID, _ tally: UnitTally, to inbox: Inbox) {
        self.user = user
        self.track = track
        self.tally = tally
        self.inbox = inbox
    }

    /// Takes an encoded video frame.
    ///
    /// - Returns: Whether a keyframe is needed.
    func receive(_ unit: EncodedVideoFrame) -> Bool {
        let outcome = take(atMost: Self.videoDepth) {
            $0.admits(unit.references)
        } deliver: { [user, track] in
            $0.receive(unit, track: track, from: user)
        }
        return outcome == .needingKeyFrame || outcome == .evicted
    }

    /// Takes an encoded audio frame.
    func receive(_ unit: EncodedAudioFrame) {
        _ = take(atMost: Self.audioDepth) { _ in
            true
        } deliver: { [user] in
            $0.receive(unit, from: user)
        }
    }

    private func take(
        atMost depth: Int, admits: (inout ReferenceChain) -> Bool,
        deliver: @escaping @Sendable (any ChannelReceiver) -> Void
    ) -> Outcome {
        tally.count(\.offered)
        let outcome = state.withLock { state -> Outcome in
            guard state.isOpen, !state.isMuted else { return .closed }
            guard admits(&state.chain) else {
                _ = state.chain.lose()
                return .needingKeyFrame
            }
            guard state.waiting < depth else {
                _ = state.chain.lose()
                return .evicted
            }
            state.waiting += 1
            return .taken
        }
        switch outcome {
        case .closed: tally.count(\.dropped[.closed])
        case .evicted: tally.count(\.dropped[.evicted])
        case .needingKeyFrame: tally.count(\.dropped[.needsKeyFrame])
        case .taken:
            inbox.deliver { [self] receiver in
                let isOpen = state.withLock { state in
                    state.waiting -= 1
                    return state.isOpen && !state.isMuted
                }
                guard let receiver, isOpen else { return tally.count(\.dropped[.closed]) }
                tally.count(\.delivered)
                deliver(receiver)
            }
        }
        return outcome
    }

    /// Drops all frames while the sender is muted, and then up to the next keyframe.
    func setMuted(_ isMuted: Bool) {
        state.withLock { state in
            state.isMuted = isMuted
            _ = state.chain.lose()
        }
    }

    /// Drops all frames up to the next keyframe.
    func beginAnew() { state.withLock { _ = $0.chain.lose() } }

    /// Drops all further frames.
    func close() { state.withLock { $0.isOpen = false } }
}

/// Calls a membership's receiver, and the feedback of its publications. The calls run one at a time
/// and in order, on a serial queue of the membership, until the receiver is released.
///
/// Thread: any.
final class Inbox: Sendable {
    private struct State {
        var isSealed = false
        /// The number of pending events.
        var waiting = 0
    }
    /// The maximum number of pending events. Events are never discarded, so a member that exceeds
    /// this limit is disconnected.
    static let capacity = 4096

    private let state = Mutex(State())
    private let receiver: HeldReceiver
    private let queue: SerialQueue

    init(_ receiver: any ChannelReceiver, label: String) {
        self.receiver = HeldReceiver(receiver)
        queue = SerialQueue(label: label)
    }

    /// Calls `body` with the receiver, unless it is released first.
    ///
    /// - Returns: False if more events are pending than allowed.
    @discardableResult
    func post(_ body: @escaping @Sendable (any ChannelReceiver) -> Void) -> Bool {
        let (isOpen, hasRoom) = state.withLock { state in
            guard !state.isSealed, !receiver.isReleased else { return (false, true) }
            state.waiting += 1
            return (true, state.waiting <= Self.capacity)
        }
        guard isOpen else { return true }
        queue.async { [self] in
            state.withLock { $0.waiting -= 1 }
            receiver.call(body)
        }
        return hasRoom
    }

    /// Calls `body` with the receiver, or with `nil` if it is released first. For encoded frames,
    /// which their streams count.
    func deliver(_ body: @escaping @Sendable ((any ChannelReceiver)?) -> Void) {
        queue.async { [receiver] in
            if !receiver.call({ body($0) }) { body(nil) }
        }
    }

    /// Reports the end of the channel to the receiver after the pending events, and releases the
    /// receiver.
    func seal(with error: EngineError) {
        let isFirst = state.withLock { state in
            defer { state.isSealed = true }
            return !state.isSealed
        }
        guard isFirst else { return }
        queue.async { [receiver] in
            receiver.call { $0.disconnected(error) }
            receiver.release()
        }
    }

    /// Asks the receiver for a token.
    func token(for reason: TokenReason) async throws(EngineError) -> String? {
        try await receiver.token(for: reason)
    }

    /// Releases the receiver: no callback begins after this. One that is running continues.
    func letGo() { receiver.release() }

    /// Returns when no callback is running. In a task that the running callback has started, it
    /// returns immediately.
    func silence() async {
        if receiver.isInOwnTurn { return }
        // The queue is serial, so this block runs after the callback.
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }
}
