internal import MediaCore

/// A member's place in a loopback channel. Only for use under the channel's lock.
struct LoopbackPlace {
    /// A stream that the member has announced.
    struct Publication {
        let stream: ChannelStream
        let feedback: (any PublicationFeedback)?
        var isMuted = false
        /// The sending state that was last reported to the publisher; `nil` before the first
        /// report.
        var isSending: Bool?
        var limit = VideoLimit()
    }
    let member: LoopbackMember
    /// Whether the member wants the tracks for which it has no demand.
    let wantsAll: Bool
    var publications: [Publication] = []
    /// One route to each of the other members.
    var routes: [LoopbackRoute] = []
    /// The member's demands for tracks of others; a `nil` value means that the track is not wanted.
    var demands: [EngineStatistics.RemoteTrack: VideoLimit?] = [:]
    /// Set while the member's connection is cut.
    var outage: Outage?

    /// A period without connection, and the events that are held back during it.
    struct Outage {
        /// Distinguishes this outage from others of the same member.
        let number: Int
        let begin: Duration
        let cause: EngineError
        var attempt = 1
        /// Events for the member.
        var inbox: [MembershipEvent] = []
        /// Events from the member to others.
        var outbox: [(slots: [Int], word: MembershipEvent)] = []
    }

    func place(of stream: ChannelStream) -> Int? {
        publications.firstIndex { $0.stream == stream }
    }

    /// Returns the member's demand for a track; `nil` if the track is not wanted.
    func demand(_ track: TrackID, of user: UserID) -> VideoLimit? {
        if let stated = demands[.init(user: user, track: track)] { return stated }
        return wantsAll ? VideoLimit() : nil
    }
}

/// The path from one member to another. Only for use under the channel's lock.
final class LoopbackRoute {
    /// The items of a stream between sending and delivery.
    struct Order {
        /// Distinguishes this stream from an earlier one of the same track.
        let number: Int
        var sent = 0
        var arrived = Resequencer<LoopbackItem>()
    }
    let slot: Int
    let member: LoopbackMember
    let tallies: ChannelTallies
    /// The tracks that the receiver does not want.
    var unwanted: Set<ChannelStream> = []
    /// The receiver's reference chain of each track that consists of units.
    var chains: [ChannelStream: ReferenceChain] = [:]
    /// When a key frame was last requested from the sender.
    var requested: [ChannelStream: Duration] = [:]
    /// Set once the network has been impaired.
    var link: LossyLink?
    var orders: [ChannelStream: Order] = [:]
    /// The number of frames in transit.
    var onTheWay: [ChannelStream: Int] = [:]
    /// Whether the connection of the sender or of the receiver is cut.
    var isCut = false
    /// The jitter of the arrived items of each stream.
    var jitter: [ChannelStream: Jitter] = [:]

    /// The mean deviation of the transit time (RFC 3550, section 6.4.1).
    struct Jitter {
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

    init(from sender: LoopbackMember, to receiver: LoopbackMember, at slot: Int) {
        self.slot = slot
        member = receiver
        tallies = ChannelTallies(addingTo: sender.outgoing, receiver.incoming)
    }

    /// The number of video frames in transit.
    var framesOnTheWay: Int {
        onTheWay.reduce(0) { $0 + ($1.key == .audio ? 0 : $1.value) }
    }

    /// The largest jitter of the video; `nil` if none has arrived.
    var videoJitter: Duration? {
        jitter.compactMap { $0.key == .audio ? nil : $0.value.value }.max()
    }

    /// Ends a stream. Items that wait for a lost item are discarded.
    func end(_ stream: ChannelStream, _ deferred: inout DeferredActions) {
        for item in orders[stream]?.arrived.removeAll() ?? [] {
            item.count(.dropped(.closed))
            deferred.release(item)
        }
        (orders[stream], chains[stream], requested[stream]) = (nil, nil, nil)
    }

    /// Ends all streams.
    func endAll(_ deferred: inout DeferredActions) {
        for stream in Array(orders.keys) { end(stream, &deferred) }
    }
}
