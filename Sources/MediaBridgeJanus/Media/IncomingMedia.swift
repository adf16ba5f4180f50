internal import BridgeEngine
internal import MediaBasics
internal import MediaBridgeWebRTC
internal import MediaCore
internal import Synchronization

/// Routes the encoded frames of one remote participant to the streams that want them. It observes
/// the participant's connections. Thread: any.
final class IncomingMedia: PeerConnectionObserver {
    private struct State {
        var video: ReceivedStream?
        var audio: ReceivedStream?
        var connection: PeerConnection?
        /// Those to the connection.
        var requests = KeyFrameRequests()
    }

    let feed: FeedID
    let signals = CurrentSignals()
    private let state = Mutex(State())

    init(_ feed: FeedID) { self.feed = feed }

    /// Sets the streams that receive frames from now on. Frames without a stream are discarded.
    func setStreams(video: ReceivedStream?, audio: ReceivedStream?) {
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
            state.video?.awaitKeyFrame()
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
