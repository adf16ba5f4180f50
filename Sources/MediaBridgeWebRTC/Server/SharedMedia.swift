internal import BridgeEngine
internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// The engine's video for the viewers: each frame goes to all of them.
///
/// The codec is that of the incoming frames. It is unknown before the first frame, so the engine is
/// asked to send until that frame arrives, even without viewers.
final class SharedVideo: ChannelPublication {
    private struct State {
        /// `nil` once the publication has ended.
        var feedback: (any PublicationFeedback)?
        /// The codec of the frames; `nil` before the first one.
        var codec: VideoCodec?
        /// Tracks the references of the frames: those of a muted track are lost.
        var chain = ReferenceChain()
        var isMuted = false
        var hasViewers = false
        /// Whether the engine was asked to send; `nil` at first.
        var isSending: Bool?
        var limit = VideoLimit()
        var sent = 0
    }
    private let state: Mutex<State>
    private weak let channel: ServedChannel?
    private let queue: ReceiverQueue
    private let timeline: any Timeline
    private let requests: KeyFrameRequests
    /// Opened when the codec is known, and at the end.
    private let isKnown = Latch()

    static let codecs: Set<VideoCodec> = [.h264, .vp8]

    /// - Parameter feedback: `nil` for a publication that has ended.
    init(_ feedback: (any PublicationFeedback)?, in channel: ServedChannel) {
        state = Mutex(State(feedback: feedback))
        self.channel = channel
        (queue, timeline) = (channel.queue, channel.timeline)
        requests = KeyFrameRequests(on: channel.timeline)
        reportState()
    }

    var videoCodecs: Set<VideoCodec> { Self.codecs }
    /// The number of frames accepted from the engine, regardless of the number of receivers.
    var sent: Int { state.withLock { $0.sent } }

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        guard case .unit(let unit) = media, Self.codecs.contains(unit.codec) else {
            return .dropped(.badFormat)
        }
        let references = unit.references
        let (refusal, before) = state.withLock { state -> (FrameDisposition?, VideoCodec?) in
            guard state.feedback != nil else { return (.dropped(.notStarted), nil) }
            guard !state.isMuted else {
                _ = state.chain.lose()
                return (.dropped(.muted), nil)
            }
            guard state.chain.admits(references) else { return (.dropped(.needsKeyFrame), nil) }
            state.sent += 1
            defer { state.codec = unit.codec }
            return (nil, state.codec)
        }
        if let refusal {
            if refusal == .dropped(.needsKeyFrame) { repeatRequest() }
            return channel?.isOver == false ? refusal : .dropped(.closed)
        }
        if before == nil {
            isKnown.open()
            reportState()
        } else if before != unit.codec {
            // They reconnect.
            channel?.endViewers(without: unit.codec)
        }
        var isMissing = false
        for viewer in channel?.viewers ?? [] where viewer.peer?.send(unit).isAccepted == false {
            isMissing = true
        }
        if isMissing { repeatRequest() }
        return .accepted
    }

    /// The codec of the frames; `nil` before the first one.
    var codec: VideoCodec? { state.withLock { $0.codec } }

    /// Waits for the first frame, and returns its codec; `nil` if none comes within `limit`.
    func codec(within limit: Duration) async -> VideoCodec? {
        _ = await isKnown.wait(for: limit, on: timeline)
        return codec
    }

    func setMuted(_ isMuted: Bool) {
        let isChanged = state.withLock { state in
            defer { state.isMuted = isMuted }
            return state.isMuted != isMuted
        }
        guard isChanged else { return }
        reportState()
        if !isMuted { requestKeyFrame() }
    }

    func end() { channel?.end(self) }

    /// Ends the publication: its feedback is not called any more.
    ///
    /// - Returns: False if it has already ended.
    func close() -> Bool {
        requests.end()
        isKnown.open()
        // Released outside the lock, because the release may run code of the program.
        let feedback = state.withLock { $0.feedback.take() }
        return feedback != nil
    }

    // MARK: Feedback

    /// Requests a keyframe from the engine, at most four times a second.
    func requestKeyFrame() { requests.request { [weak self] in self?.askForKeyFrame() } }

    private func repeatRequest() {
        requests.repeatRequest { [weak self] in self?.askForKeyFrame() }
    }

    private func askForKeyFrame() {
        post(state.withLock { $0.feedback }) { $0.keyFrameNeeded() }
    }

    /// Sets whether there are viewers, and their combined limit.
    func update(hasViewers: Bool, _ limit: VideoLimit) {
        state.withLock { $0.hasViewers = hasViewers }
        reportState()
        state.withLock { state in
            guard SharedLimit.isNews(limit, after: state.limit) else { return }
            state.limit = limit
            post(state.feedback) { $0.limitChanged(limit) }
        }
    }

    private func reportState() {
        state.withLock { state in
            let isSending = !state.isMuted && (state.hasViewers || state.codec == nil)
            guard state.isSending != isSending else { return }
            state.isSending = isSending
            post(state.feedback) { $0.stateChanged(isSending ? .sending : .paused) }
        }
    }

    /// Callers hold the lock while queueing if the order matters.
    private func post(
        _ feedback: (any PublicationFeedback)?,
        _ body: @escaping @Sendable (any PublicationFeedback) -> Void
    ) {
        guard let feedback else { return }
        queue.post { _ in body(feedback) }
    }
}

// MARK: - SharedAudio

/// The engine's audio for the viewers: each frame goes to all of them.
final class SharedAudio: ChannelPublication {
    private let state = Mutex((isMuted: false, isOver: false))
    private weak let channel: ServedChannel?

    init(in channel: ServedChannel) { self.channel = channel }

    var audioCodecs: Set<AudioCodec> { [.opus] }

    /// The loss of the viewer with the highest loss: protecting against it costs the others little.
    var lossOfReceivers: Double {
        (channel?.viewers ?? []).reduce(0) { max($0, $1.peer?.soundLoss ?? 0) }
    }

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        guard case .audioUnit(let unit) = media, unit.codec == .opus else {
            return .dropped(.badFormat)
        }
        let state = self.state.withLock { $0 }
        guard !state.isOver else {
            return channel?.isOver == false ? .dropped(.notStarted) : .dropped(.closed)
        }
        guard !state.isMuted else { return .dropped(.muted) }
        for viewer in channel?.viewers ?? [] { _ = viewer.peer?.send(unit) }
        return .accepted
    }

    func setMuted(_ isMuted: Bool) { state.withLock { $0.isMuted = isMuted } }

    func end() { channel?.end(self) }

    func close() { state.withLock { $0.isOver = true } }
}

// MARK: - SharedLimit

/// Combines the limits of all viewers into one, because they share one encoding.
///
/// The bit rate is the lowest one, because a viewer that gets more than its network carries sees
/// nothing. It is at least half of the median: slow viewers in the minority cost the others at most
/// half of their bits. (For an even number of viewers, the median is the lower of the two middle
/// values. Of two viewers, the slower one therefore decides.) Size and frame rate are the largest
/// ones: a smaller frame would help no viewer of the larger one.
enum SharedLimit {
    /// The lowest limit, in bits per second: below it, video is not worth sending.
    static let minimum = 100_000
    /// A change of the bit rate by less than this share is not reported.
    private static let significance = 0.05

    /// - Parameter limits: The limits of the viewers that have one.
    static func combined(_ limits: [VideoLimit]) -> VideoLimit {
        var combined = VideoLimit(covering: limits)
        let rates = limits.compactMap(\.bitRate).sorted()
        if let lowest = rates.first {
            let median = rates[(rates.count - 1) / 2]
            combined.bitRate = max(lowest, median / 2, minimum)
        }
        return combined
    }

    /// Returns whether a limit differs enough from the previous one to be reported.
    static func isNews(_ limit: VideoLimit, after before: VideoLimit) -> Bool {
        guard limit.size == before.size, limit.frameRate == before.frameRate,
            let rate = limit.bitRate, let old = before.bitRate
        else { return limit != before }
        return abs(Double(rate - old)) > Double(old) * significance
    }
}
