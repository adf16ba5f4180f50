import BridgeEngine
import MediaBasics
import MediaCore
import Synchronization

/// The publication of a stream through an impaired network.
final class LossyPublication: ChannelPublication {
    /// Media in transit.
    private struct Flight: Sendable {
        let media: ChannelMedia
        let number: Int
        /// The value of ``State/interruptions`` when the media was sent.
        let interruptions: Int
        let sent: Duration
    }
    private struct State {
        /// Set once the network was impaired. From then on all media takes this path, so that none
        /// overtakes media in transit.
        var link: LossyLink?
        var isMuted = false
        var isOver = false
        /// How often the stream was interrupted, which discards the media in transit.
        var interruptions = 0
        var sent = 0
        var arrived = Resequencer<ChannelMedia>()
        var chain = ReferenceChain(isBroken: false)
        var carriesUnits = false
        /// When a key frame was last requested.
        var requested: Duration?
        var jitter: Jitter?

        /// - Returns: The items that are discarded because they waited for a lost one.
        mutating func interrupt() -> [ChannelMedia] {
            guard link != nil else { return [] }
            defer { arrived = Resequencer() }
            (interruptions, sent) = (interruptions + 1, 0)
            (chain, requested) = (ReferenceChain(), nil)
            return arrived.removeAll()
        }
    }
    /// The minimum interval between two requests for a key frame, if none has arrived.
    private static let keyFrameInterval = Duration.milliseconds(500)

    let stream: MediaTrackID
    let sender: LossySender
    private let number: UInt64
    private let inner: any ChannelPublication
    private let feedback: LossyFeedback?
    private let tally: ChannelTally
    private let timeline: any Timeline
    private let queue: SerialQueue
    private let state = Mutex(State())

    /// - Parameters:
    ///   - number: Distinguishes this publication from the others of the network.
    ///   - queue: Media arrives on it.
    init(
        _ stream: MediaTrackID, _ inner: any ChannelPublication, _ feedback: LossyFeedback?,
        of sender: LossySender, number: UInt64, on timeline: any Timeline, _ queue: SerialQueue
    ) {
        (self.stream, self.inner, self.feedback) = (stream, inner, feedback)
        (self.sender, self.number, tally) = (sender, number, sender.tallies[stream])
        (self.timeline, self.queue) = (timeline, queue)
    }

    var videoCodecs: Set<VideoCodec> { inner.videoCodecs }
    var audioCodecs: Set<AudioCodec> { inner.audioCodecs }
    var carriesFrames: Bool { inner.carriesFrames }
    var carriesReorderedUnits: Bool { inner.carriesReorderedUnits }
    var lossOfReceivers: Double { inner.lossOfReceivers }
    var jitter: Duration? { state.withLock { $0.jitter?.value } }

    func impair(_ impairment: NetworkImpairment?) {
        state.withLock { state in
            if state.link == nil, let impairment {
                state.link = LossyLink(impairment, number: number)
            } else {
                state.link?.change(to: impairment ?? NetworkImpairment())
            }
        }
        feedback?.limit(toBitRate: impairment?.bitRate.map { $0 / 10 * 9 })
    }

    func setMuted(_ isMuted: Bool) {
        discard { state in
            guard state.isMuted != isMuted else { return [] }
            state.isMuted = isMuted
            return state.interrupt()
        }
        inner.setMuted(isMuted)
    }

    func end() {
        discard { state in
            state.isOver = true
            return state.interrupt()
        }
        feedback?.end()
        inner.end()
    }

    private func discard(_ change: (inout State) -> [ChannelMedia]) {
        for _ in state.withLock({ change(&$0) }) { tally.count(.dropped(.closed)) }
    }

    // MARK: On the way

    func send(_ media: consuming ChannelMedia) -> FrameDisposition {
        let (media, now) = (media, timeline.now)
        let (isImpaired, isMuted, isOver) = state.withLock {
            ($0.link != nil, $0.isMuted, $0.isOver)
        }
        guard isImpaired else { return inner.send(media) }
        guard !isOver else { return .dropped(.notStarted) }
        guard carriesFrames || media.isEncoded else { return .dropped(.badFormat) }
        guard !sender.hasLeft else { return .dropped(.closed) }
        guard !isMuted else { return .dropped(.muted) }
        tally.count(.sent)
        let (flight, time) = state.withLock { state in
            defer { state.sent += 1 }
            if case .unit = media { state.carriesUnits = true }
            let flight = Flight(
                media: media, number: state.sent, interruptions: state.interruptions, sent: now)
            return (flight, state.link?.send(media.byteCount, at: now))
        }
        if let time {
            schedule(after: time) { $0.arrive(flight) }
        } else {
            tally.count(.dropped(.lost))
        }
        return .accepted
    }

    private func schedule(
        after time: Duration, _ body: @escaping @Sendable (LossyPublication) -> Void
    ) {
        _ = timeline.schedule(after: time, on: queue) { [self] in body(self) }
    }

    private func arrive(_ flight: Flight) {
        let now = timeline.now
        let (next, cause, patience) = state.withLock {
            state -> ([Resequencer<ChannelMedia>.Output], DropCause?, Duration?) in
            guard flight.interruptions == state.interruptions else { return ([], .closed, nil) }
            state.jitter = state.jitter ?? Jitter()
            state.jitter?.note(now - flight.sent)
            guard let next = state.arrived.take(flight.media, number: flight.number) else {
                return ([], .lost, nil)
            }
            return (next, nil, state.arrived.isWaiting ? state.link?.impairment.patience : nil)
        }
        if let cause { tally.count(.dropped(cause)) }
        pass(next)
        if let patience { schedule(after: patience) { $0.giveUp(before: flight) } }
    }

    /// Skips the media that did not arrive before `flight`.
    private func giveUp(before flight: Flight) {
        pass(
            state.withLock { state in
                guard flight.interruptions == state.interruptions else { return [] }
                return state.arrived.giveUp(before: flight.number)
            })
    }

    private func pass(_ output: [Resequencer<ChannelMedia>.Output]) {
        for next in output {
            switch next {
            case .item(let media): pass(media)
            case .gap:
                let carriesUnits = state.withLock { state in
                    _ = state.chain.lose()
                    return state.carriesUnits
                }
                if carriesUnits { askForKeyFrame() }
            }
        }
    }

    /// Passes media to the wrapped transport, except a unit that refers to a lost one.
    private func pass(_ media: ChannelMedia) {
        if case .unit(let unit) = media {
            let isUsable = state.withLock { state in
                if unit.references == .none { state.requested = nil }
                return state.chain.admits(unit.references)
            }
            guard isUsable else {
                tally.count(.dropped(.needsKeyFrame))
                return askForKeyFrame()
            }
        }
        switch inner.send(media) {
        case .accepted: tally.count(.delivered)
        case .dropped(let cause): tally.count(.dropped(cause))
        }
    }

    /// Requests a key frame from the publisher, unless one was requested just before.
    private func askForKeyFrame() {
        let now = timeline.now
        let delay = state.withLock { state -> Duration? in
            if let last = state.requested, now - last < Self.keyFrameInterval { return nil }
            state.requested = now
            return state.link?.impairment.delay
        }
        if let delay { schedule(after: delay) { $0.feedback?.keyFrameNeeded() } }
    }
}

/// The mean deviation of the transit time (RFC 3550, section 6.4.1).
private struct Jitter {
    private(set) var value = Duration.zero
    private var last: Duration?

    mutating func note(_ transit: Duration) {
        if let last {
            let difference = transit > last ? transit - last : last - transit
            value += (difference - value) / 16
        }
        last = transit
    }
}

extension ChannelMedia {
    fileprivate var isEncoded: Bool {
        switch self {
        case .unit, .audioUnit: true
        case .picture, .samples: false
        }
    }

    /// The size of an encoded unit in bytes; zero for pictures and samples.
    fileprivate var byteCount: Int {
        switch self {
        case .unit(let unit): unit.byteCount
        case .audioUnit(let unit): unit.byteCount
        case .picture, .samples: 0
        }
    }
}

// MARK: Feedback

/// The feedback of a publication, with the limit of the impaired network added. Thread: any.
final class LossyFeedback: PublicationFeedback {
    private struct State {
        /// The limit of the wrapped transport.
        var limit = VideoLimit()
        var bitRate: Int?
        var reported = VideoLimit()
        var isOver = false
    }
    private let publisher: any PublicationFeedback
    private let sender: LossySender
    private let queue: SerialQueue
    private let state = Mutex(State())

    init(_ publisher: any PublicationFeedback, of sender: LossySender, on queue: SerialQueue) {
        (self.publisher, self.sender, self.queue) = (publisher, sender, queue)
    }

    func limitChanged(_ limit: VideoLimit) {
        state.withLock { $0.limit = limit }
        report()
    }

    /// Sets the bit rate of the impaired network; `nil` for no limit.
    func limit(toBitRate bitRate: Int?) {
        state.withLock { $0.bitRate = bitRate }
        report()
    }

    private func report() {
        queue.async { [self] in
            let limit = state.withLock { state -> VideoLimit? in
                var limit = state.limit
                limit.bitRate = [limit.bitRate, state.bitRate].compactMap(\.self).min()
                guard !state.isOver, limit != state.reported else { return nil }
                state.reported = limit
                return limit
            }
            if let limit, !sender.hasLeft { publisher.limitChanged(limit) }
        }
    }

    func keyFrameNeeded() {
        guard !state.withLock({ $0.isOver }), !sender.hasLeft else { return }
        publisher.keyFrameNeeded()
    }

    func codecsChanged() -> Bool { publisher.codecsChanged() }
    func stateChanged(_ state: PublicationState) { publisher.stateChanged(state) }

    /// Ends the calls of the impaired network.
    func end() { state.withLock { $0.isOver = true } }
}
