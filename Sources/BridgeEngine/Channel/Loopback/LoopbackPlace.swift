internal import MediaCore

/// A member's place in a loopback channel. Only for use under the channel's lock.
struct LoopbackPlace {
    /// A track that the member has announced.
    struct Track {
        let id: TrackID
        let feedback: any PublicationFeedback
        var isMuted = false
        /// Whether the publisher was told that somebody gets the track; `nil` before it was told.
        var isSending: Bool?
        var limit = VideoLimit()
    }
    let member: LoopbackMember
    /// Whether the member wants the tracks for which it has no demand.
    let wantsAll: Bool
    var tracks: [Track] = []
    var hasAudio = false
    var isAudioMuted = false
    /// One route to each of the other members.
    var routes: [LoopbackRoute] = []
    /// What the member wants of tracks of others; `nil` for nothing.
    var demands: [LoopbackRoster.UserTrack: VideoDemand?] = [:]
    /// Set while the member's connection is cut.
    var outage: Outage?

    /// The events of a time without connection.
    struct Outage {
        /// Tells this outage from others of the same member.
        let number: Int
        let begin: Duration
        let cause: EngineError
        var attempt = 1

        init(number: Int, at now: Duration, because cause: EngineError) {
            self.number = number
            self.cause = cause
            begin = now
        }

        /// For the member.
        var inbox: [LoopbackItem] = []
        /// From the member to others.
        var outbox: [(slots: [Int], word: LoopbackItem)] = []
    }

    func place(of track: TrackID) -> Int? { tracks.firstIndex { $0.id == track } }

    /// Returns what the member wants of a track; `nil` for nothing.
    func demand(_ track: TrackID, of user: UserID) -> VideoDemand? {
        if let said = demands[.init(user: user, track: track)] { return said }
        return wantsAll ? VideoDemand() : nil
    }
}

/// The way from one member to another. Only for use under the channel's lock.
final class LoopbackRoute {
    /// What keeps its order on the way.
    enum Stream: Hashable {
        case video(TrackID)
        case audio
    }
    /// The items of a stream between sending and delivery.
    struct Order {
        /// Tells this stream from an earlier one of the same track.
        let number: Int
        var sent = 0
        var arrived = Resequencer<LoopbackItem>()
    }
    let slot: Int
    let member: LoopbackMember
    let tally: FrameTally
    let audio: FrameTally
    /// The tracks that the receiver does not want.
    var unwanted: Set<TrackID> = []
    /// What the receiver has of each track that consists of units.
    var chains: [TrackID: ReferenceChain] = [:]
    /// When the sender was asked for a key frame.
    var asked: [TrackID: Duration] = [:]
    /// Set once the network was impaired.
    var link: LossyLink?
    var orders: [Stream: Order] = [:]
    /// The number of frames that were sent and have not arrived.
    var onTheWay: [Stream: Int] = [:]
    /// Whether the connection of the sender or of the receiver is cut.
    var isCut = false
    /// The jitter of what has arrived of each stream.
    private(set) var jitter: [Stream: Jitter] = [:]

    /// The mean deviation of the time on the way (RFC 3550, section 6.4.1).
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
        tally = FrameTally(addingTo: sender.outgoing, receiver.incoming)
        audio = FrameTally(addingTo: sender.outgoingAudio, receiver.incomingAudio)
    }

    /// The number of video frames that were sent and have not arrived.
    var framesOnTheWay: Int {
        onTheWay.reduce(0) { $0 + ($1.key == .audio ? 0 : $1.value) }
    }

    /// Notes how long a frame was on its way.
    func note(transit: Duration, of stream: Stream) {
        jitter[stream, default: Jitter()].note(transit)
    }

    /// The largest jitter of the video; `nil` if none has arrived.
    var videoJitter: Duration? {
        jitter.compactMap { $0.key == .audio ? nil : $0.value.value }.max()
    }

    /// Ends a stream. What waits for what was lost does not arrive any more.
    func end(_ stream: Stream, _ deferred: inout DeferredActions) {
        for item in orders[stream]?.arrived.removeAll() ?? [] {
            item.tally?.countClosed()
            deferred.note(released: item)
        }
        orders[stream] = nil
        if case .video(let track) = stream { (chains[track], asked[track]) = (nil, nil) }
    }

    /// Ends all streams.
    func endAll(_ deferred: inout DeferredActions) {
        for stream in Array(orders.keys) { end(stream, &deferred) }
    }
}
