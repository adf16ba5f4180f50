package import BridgeEngine
package import MediaBasics
import MediaBridge
import MediaCore
import Synchronization

/// A transport with a bad network between each member and a wrapped transport: the media that a
/// member publishes is lost, delayed and reordered before the wrapped transport gets it. Everything
/// else passes at once, except requests for key frames, which are delayed.
///
/// A loss happens before media is distributed, so it is counted once, for its sender. The network
/// calls the feedback of publications on its own queue. Thread: any.
package final class LossyTransport: ChannelTransport {
    private struct State {
        struct Reference { weak var publication: LossyPublication? }
        var references: [Reference] = []
        /// The number of publications so far.
        var count: UInt64 = 0
        var impairment: NetworkImpairment?

        /// The publications that still exist.
        var publications: [LossyPublication] { references.compactMap(\.publication) }
    }
    private let network: any ChannelTransport
    private let timeline: any Timeline
    private let queue = SerialQueue(label: "lossy")
    private let state = Mutex(State())

    /// Creates a network that is perfect at first.
    ///
    /// - Parameter timeline: The time of delays.
    package init(_ network: any ChannelTransport, on timeline: any Timeline = .system) {
        (self.network, self.timeline) = (network, timeline)
    }

    /// Impairs the network from now on; `nil` for a perfect one.
    package func impair(_ impairment: NetworkImpairment?) {
        let publications = state.withLock { state in
            state.impairment = impairment
            return state.publications
        }
        for publication in publications { publication.impair(impairment) }
    }

    package func join(
        _ request: ChannelRequest, receiver: any ChannelReceiver
    ) async throws(EngineError) -> any ChannelMembership {
        LossyMembership(try await network.join(request, receiver: receiver), request, of: self)
    }

    func publish(
        _ stream: MediaTrackID, _ feedback: (any PublicationFeedback)?, by sender: LossySender,
        in membership: any ChannelMembership
    ) -> LossyPublication {
        let feedback = feedback.map { LossyFeedback($0, of: sender, on: queue) }
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let publication = LossyPublication(
            stream, membership.publish(stream, feedback: feedback), feedback, of: sender,
            number: number, on: timeline, queue)
        let impairment = state.withLock { state in
            state.references.removeAll { $0.publication == nil }
            state.references.append(State.Reference(publication: publication))
            return state.impairment
        }
        if let impairment { publication.impair(impairment) }
        return publication
    }

    /// Calls `body` after the delay of the network.
    func afterDelay(_ body: @escaping @Sendable () -> Void) {
        let delay = state.withLock { $0.impairment?.delay ?? .zero }
        guard delay > .zero else { return body() }
        _ = timeline.schedule(after: delay, on: queue, body)
    }

    /// The largest jitter of a user's video, or of its audio; `nil` if none was measured.
    func jitter(of user: UserID, in channel: String, isAudio: Bool) -> Duration? {
        state.withLock { $0.publications }
            .filter { $0.sender.user == user && $0.sender.channel == channel }
            .filter { ($0.stream == .audio) == isAudio }
            .compactMap(\.jitter).max()
    }

    /// Returns when no call of a feedback is running.
    func silence() async {
        await withCheckedContinuation { silent in queue.async { silent.resume() } }
    }
}

extension MediaEngine {
    /// Creates an engine that uses GStreamer, and sends through a lossy network.
    package init(configuration: Configuration = Configuration(), transport: LossyTransport) {
        self.init(
            configuration: configuration, backend: GStreamerBackend(), transport: transport)
    }
}

// MARK: Membership

/// The sender of publications.
final class LossySender: Sendable {
    let channel: String
    let user: UserID
    /// What was sent. Delivered is what the wrapped transport took, which counts it then.
    let tallies = ChannelTallies()
    private let isGone = Atomic<Bool>(false)

    init(_ request: ChannelRequest) { (channel, user) = (request.channel, request.userID) }

    var hasLeft: Bool { isGone.load(ordering: .relaxed) }
    func leave() { isGone.store(true, ordering: .relaxed) }
}

private final class LossyMembership: ChannelMembership {
    private let inner: any ChannelMembership
    private let sender: LossySender
    private let transport: LossyTransport

    init(
        _ inner: any ChannelMembership, _ request: ChannelRequest, of transport: LossyTransport
    ) {
        (self.inner, self.transport) = (inner, transport)
        sender = LossySender(request)
    }

    func publish(
        _ stream: MediaTrackID, feedback: (any PublicationFeedback)?
    ) -> any ChannelPublication {
        transport.publish(stream, feedback, by: sender, in: inner)
    }

    func setDemand(_ demand: VideoLimit?, _ track: TrackID, of user: UserID) {
        inner.setDemand(demand, track, of: user)
    }

    func requestKeyFrame(_ track: TrackID, of user: UserID) {
        transport.afterDelay { [weak inner] in inner?.requestKeyFrame(track, of: user) }
    }

    func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        try await inner.send(message, to: user)
    }

    func leave() async {
        sender.leave()
        await inner.leave()
        await transport.silence()
    }

    var statistics: ChannelStatistics {
        // Read first: a frame that reaches the wrapped transport meanwhile counts as waiting.
        let (video, audio) = (sender.tallies.video.frames, sender.tallies.audio.frames)
        var statistics = inner.statistics
        statistics.sent += video.offered - video.delivered
        statistics.outgoing = statistics.outgoing + video.withoutDelivered
        statistics.outgoingAudio = statistics.outgoingAudio + audio.withoutDelivered
        for user in statistics.from.keys {
            let channel = sender.channel
            statistics.jitter[user] = transport.jitter(of: user, in: channel, isAudio: false)
            statistics.audioJitter[user] = transport.jitter(of: user, in: channel, isAudio: true)
        }
        return statistics
    }
}

extension FrameBalance {
    fileprivate var withoutDelivered: FrameBalance {
        FrameBalance(offered: offered - delivered, dropped: dropped)
    }
}
