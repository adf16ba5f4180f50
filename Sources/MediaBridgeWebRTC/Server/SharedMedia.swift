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

    var videoCodecs: Set<VideoCodec> { Self.codecs }
    /// The number of frames accepted from the engine, regardless of the number of receivers.
    var sent: Int { state.withLock { $0.sent } }

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        guard case .unit(let unit) = media, Self.codecs.contains(unit.codec) else {
            return .badFormat
        }
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

    private func askForKeyFrame() {
        post(state.withLock { $0.feedback }) { $0.keyFrameNeeded() }
    }

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

    /// Callers hold the lock while queueing if the order matters.
    private func post(
        _ feedback: (any PublicationFeedback)?,
        _ body: @escaping @Sendable (any PublicationFeedback) -> Void
    ) {
        guard let feedback else { return }
        channel.queue.post { _ in body(feedback) }
    }
}

// MARK: - SharedAudio

/// The engine's audio for the viewers: each frame goes to all of them.
final class SharedAudio: ChannelPublication {
    private struct State {
        var isMuted = false
        var isOver = false
    }
    private let state = Mutex(State())
    private let channel: ServedChannel

    init(in channel: ServedChannel) { self.channel = channel }

    var audioCodecs: Set<AudioCodec> { [.opus] }

    /// The loss of the viewer with the highest loss: protecting against it costs the others little.
    var lossOfReceivers: Double {
        channel.viewers.reduce(0) { max($0, $1.peer?.soundLoss ?? 0) }
    }

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        guard case .audioUnit(let unit) = media, unit.codec == .opus else { return .badFormat }
        let state = self.state.withLock { $0 }
        guard !state.isOver else { return channel.isOver ? .dropped(.closed) : .notStarted }
        guard !state.isMuted else { return .dropped(.muted) }
        for viewer in channel.viewers { _ = viewer.peer?.send(unit) }
        return .accepted
    }

    func setMuted(_ isMuted: Bool) { state.withLock { $0.isMuted = isMuted } }

    func end() { channel.end(self) }

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
        var combined = VideoLimit()
        let rates = limits.compactMap(\.bitRate).sorted()
        if let lowest = rates.first {
            let median = rates[(rates.count - 1) / 2]
            combined.bitRate = max(lowest, median / 2, minimum)
        }
        let sizes = limits.compactMap(\.size)
        if sizes.count == limits.count {
            combined.size = sizes.max { $0.width * $0.height < $1.width * $1.height }
        }
        let frameRates = limits.compactMap(\.frameRate)
        if frameRates.count == limits.count { combined.frameRate = frameRates.max() }
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

// MARK: - Announcement

/// A value that is unknown at first and that several tasks may wait for. Thread: any.
final class Announcement<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let continuation: CheckedContinuation<Value?, Never>
        let timer: OneShotTimer
    }
    private struct State {
        var value: Value?
        var isOver = false
        var waiters: [Int: Waiter] = [:]
        var number = 0
    }
    private let state = Mutex(State())
    private let timeline: any Timeline

    init(on timeline: any Timeline = .system) { self.timeline = timeline }

    /// The value; `nil` while it is unknown.
    var value: Value? { state.withLock { $0.value } }

    /// Sets or replaces the value.
    func announce(_ value: Value) { resumeAll(with: value) { $0.value = value } }

    /// Ends all waits: no value will be announced.
    func end() { resumeAll(with: nil) { $0.isOver = true } }

    private func resumeAll(with value: Value?, _ change: (inout State) -> Void) {
        let waiters = state.withLock { state in
            change(&state)
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: value) }
    }

    /// Waits for the value.
    ///
    /// - Returns: `nil` if the value is still unknown after `limit`.
    func value(within limit: Duration) async -> Value? {
        await withCheckedContinuation { continuation in
            let (isOver, value) = state.withLock { state in
                guard state.value == nil, !state.isOver else { return (true, state.value) }
                state.number += 1
                let number = state.number
                let timer = OneShotTimer(after: limit, on: timeline) { [weak self] in
                    self?.giveUp(number)
                }
                state.waiters[number] = Waiter(continuation: continuation, timer: timer)
                return (false, nil)
            }
            if isOver { continuation.resume(returning: value) }
        }
    }

    private func giveUp(_ number: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
        waiter?.continuation.resume(returning: nil)
    }

    deinit {
        for waiter in state.withLock({ $0.waiters.values }) {
            waiter.continuation.resume(returning: nil)
        }
    }
}
