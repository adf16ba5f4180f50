internal import BridgeEngine
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
