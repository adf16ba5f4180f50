internal import BridgeEngine
internal import MediaCore
internal import Synchronization

/// The engine's video for the viewers: each frame goes to all of them.
///
/// The codec is that of the incoming frames. It is unknown before the first frame, so the engine is
/// asked to send until that frame arrives, even without viewers.
final class SharedVideo: VideoPublication {
    private struct State {
        /// `nil` once the publication has ended.
        var feedback: (any PublicationFeedback)?
        var isMuted = false
        var hasViewers = false
        /// Whether the engine was asked to send; `nil` at first.
        var isSending: Bool?
        var limit = VideoLimit()
        var sent = 0
    }
    private let state: Mutex<State>
    private let channel: ServedChannel
    private let requests: KeyFrameRequests
    /// The codec of the frames.
    let codec: Announcement<VideoCodec>

    static let codecs: Set<VideoCodec> = [.h264, .vp8]

    init(_ feedback: any PublicationFeedback, in channel: ServedChannel) {
        state = Mutex(State(feedback: feedback))
        self.channel = channel
        requests = KeyFrameRequests(on: channel.timeline)
        codec = Announcement(on: channel.timeline)
        reportState()
    }

    var codecs: Set<VideoCodec> { Self.codecs }
    var carriesFrames: Bool { false }
    /// The number of frames accepted from the engine, regardless of the number of receivers.
    var sent: Int { state.withLock { $0.sent } }

    func send(_ frame: consuming VideoFrame) -> FrameDisposition { .badFormat }

    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        guard Self.codecs.contains(unit.codec) else { return .badFormat }
        let refusal = state.withLock { state -> FrameDisposition? in
            guard state.feedback != nil else { return .notStarted }
            guard !state.isMuted else { return .dropped(.muted) }
            state.sent += 1
            return nil
        }
        if let refusal { return channel.isOver ? .dropped(.closed) : refusal }
        if codec.value != unit.codec { change(to: unit.codec) }
        let references = unit.references
        for viewer in channel.viewers {
            let isMissing = viewer.send(unit, references)
            if isMissing { requests.repeatRequest { [weak self] in self?.askForKeyFrame() } }
        }
        return .accepted
    }

    private func change(to codec: VideoCodec) {
        let isFirst = self.codec.value == nil
        self.codec.announce(codec)
        // Viewers that have negotiated the other codec reconnect.
        if isFirst { reportState() } else { channel.endViewers(without: codec) }
    }

    func setMuted(_ isMuted: Bool) {
        let isChanged = state.withLock { state in
            defer { state.isMuted = isMuted }
            return state.isMuted != isMuted
        }
        guard isChanged else { return }
        // The stream continues with a keyframe after the pause.
        for viewer in channel.viewers { viewer.beginAnew() }
        reportState()
        if !isMuted { requestKeyFrame() }
    }

    func end() { channel.end(self) }

    /// Ends the publication: its feedback is not called any more.
    ///
    /// - Returns: False if it has already ended.
    func close() -> Bool {
        requests.end()
        codec.end()
        // Released outside the lock, because the release may run code of the program.
        let feedback = state.withLock { $0.feedback.take() }
        return feedback != nil
    }

    // MARK: Feedback

    /// Requests a keyframe from the engine, at most four times a second.
    func requestKeyFrame() { requests.request { [weak self] in self?.askForKeyFrame() } }

    private func askForKeyFrame() { tell { $0.keyFrameNeeded() } }

    /// Sets whether there are viewers.
    func setHasViewers(_ hasViewers: Bool) {
        state.withLock { $0.hasViewers = hasViewers }
        reportState()
    }

    func setLimit(_ limit: VideoLimit) {
        state.withLock { state in
            guard SharedLimit.isNews(limit, after: state.limit) else { return }
            state.limit = limit
            post(state.feedback) { $0.limitChanged(limit) }
        }
    }

    private func reportState() {
        let isKnown = codec.value != nil
        state.withLock { state in
            let isSending = !state.isMuted && (state.hasViewers || !isKnown)
            guard state.isSending != isSending else { return }
            state.isSending = isSending
            post(state.feedback) { $0.stateChanged(isSending ? .sending : .paused) }
        }
    }

    private func tell(_ body: @escaping @Sendable (any PublicationFeedback) -> Void) {
        post(state.withLock { $0.feedback }, body)
    }

    /// Callers hold the lock while queueing if the order matters.
    private func post(
        _ feedback: (any PublicationFeedback)?,
        _ body: @escaping @Sendable (any PublicationFeedback) -> Void
    ) {
        guard let feedback else { return }
        channel.queue.post { _ in body(feedback) }
    }
}
