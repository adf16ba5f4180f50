internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// Routes the encoded frames of one remote participant to the streams that want them. It observes
/// the participant's connections. Thread: any.
final class IncomingMedia: PeerConnectionObserver {
    private struct State {
        var video: IncomingStream?
        var audio: IncomingStream?
        var connection: PeerConnection?
        /// Those to the connection.
        var requests = KeyFrameRequests()
    }

    let feed: FeedID
    let signals = CurrentSignals()
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

    var wantsVideo: Bool { state.withLock { $0.video != nil } }

    func setConnection(_ connection: PeerConnection?) {
        let before = state.withLock { state in
            defer { (state.connection, state.requests) = (connection, KeyFrameRequests()) }
            // The stream of another connection does not continue the previous one.
            state.video?.beginAnew()
            return state.connection
        }
        withExtendedLifetime(before) {}
    }

    func stateChanged(_ state: PeerConnection.State) { signals.send(.state(state)) }

    func receive(_ unit: EncodedVideoFrame) {
        let stream = state.withLock { $0.video }
        if stream?.receive(.unit(unit)) == true { requestKeyFrame() }
    }

    func receive(_ unit: EncodedAudioFrame) {
        _ = state.withLock { $0.audio }?.receive(.audioUnit(unit))
    }

    /// Requests a keyframe, unless one was requested a short time ago.
    func requestKeyFrame() {
        let (connection, requests) = state.withLock { ($0.connection, $0.requests) }
        if let connection { requests.repeatRequest { connection.requestKeyFrame() } }
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
    /// The maximum number of frames that wait for the receiver: two seconds or more.
    private static let (videoDepth, audioDepth) = (64, 100)

    private let stream: ChannelStream
    private let user: UserID
    private let tally: ChannelTally
    private let queue: ReceiverQueue
    private let state = Mutex(State())

    init(_ stream: ChannelStream, of user: UserID, _ tally: ChannelTally, to queue: ReceiverQueue) {
        self.stream = stream
        self.user = user
        self.tally = tally
        self.queue = queue
    }

    /// Takes an encoded frame.
    ///
    /// - Returns: Whether a keyframe is needed.
    func receive(_ media: ChannelMedia) -> Bool {
        tally.count(.sent)
        let references: EncodedVideoFrameReferences? =
            if case .unit(let unit) = media { unit.references } else { nil }
        let depth = references == nil ? Self.audioDepth : Self.videoDepth
        var needsKeyFrame = false
        let isTaken = state.withLock { state -> Bool in
            guard state.isOpen, !state.isMuted else {
                tally.count(.dropped(.closed))
                return false
            }
            let isUsable = references.map { state.chain.admits($0) } ?? true
            guard !isUsable || state.waiting >= depth else {
                state.waiting += 1
                return true
            }
            tally.count(.dropped(isUsable ? .evicted : .needsKeyFrame))
            _ = state.chain.lose()
            needsKeyFrame = references != nil
            return false
        }
        if isTaken { deliver(media) }
        return needsKeyFrame
    }

    private func deliver(_ media: ChannelMedia) {
        queue.post { [self] receiver in
            let isOpen = state.withLock { state in
                state.waiting -= 1
                return state.isOpen && !state.isMuted
            }
            guard isOpen else { return tally.count(.dropped(.closed)) }
            tally.count(.delivered)
            receiver.receive(media, stream, from: user)
        } undelivered: { [tally] in
            tally.count(.dropped(.closed))
        }
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
