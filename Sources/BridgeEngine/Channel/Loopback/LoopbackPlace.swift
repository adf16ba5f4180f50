internal import MediaCore

/// A member's place in a loopback channel. Only for use under the channel's lock.
struct LoopbackPlace {
    /// A track that the member has announced.
    struct Track {
        let id: TrackID
        let feedback: any PublicationFeedback
        var isMuted = false
        /// The sending state that was last reported to the publisher; `nil` before the first
        /// report.
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
    /// The member's demands for tracks of others; a `nil` value means that the track is not wanted.
    var demands: [LoopbackRoster.UserTrack: VideoLimit?] = [:]
    /// Set while the member's connection is cut.
    var outage: Outage?

    /// A period without connection, and the events that are held back during it.
    struct Outage {
        /// Distinguishes this outage from others of the same member.
        let number: Int
        let begin: Duration
        let cause: EngineError
        var attempt = 1

        init(number: Int, at now: Duration, because cause: EngineError) {
            self.number = number
            self.cause = cause
            begin = now
        }

        /// Events for the member.
        var inbox: [LoopbackItem] = []
        /// Events from the member to others.
        var outbox: [(slots: [Int], word: LoopbackItem)] = []
    }

    func place(of track: TrackID) -> Int? { tracks.firstIndex { $0.id == track } }

    /// Returns the member's demand for a track; `nil` if the track is not wanted.
    func demand(_ track: TrackID, of user: UserID) -> VideoLimit? {
        if let said = demands[.init(user: user, track: track)] { return said }
        return wantsAll ? VideoLimit() : nil
    }
}

/// The path from one member to another. Only for use under the channel's lock.
final class LoopbackRoute {
    /// A sequence of items whose order is preserved in transit.
    enum Stream: Hashable {
        case video(TrackID)
        case audio
    }
    /// The items of a stream between sending and delivery.
    struct Order {
        /// Distinguishes this stream from an earlier one of the same track.
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
    /// The receiver's reference chain of each track that consists of units.
    var chains: [TrackID: ReferenceChain] = [:]
    /// When a key frame was last requested from the sender.
    var asked: [TrackID: Duration] = [:]
    /// Set once the network has been impaired.
    var link: LossyLink?
    var orders: [Stream: Order] = [:]
    /// The number of frames in transit.
    var onTheWay: [Stream: Int] = [:]
    /// Whether the connection of the sender or of the receiver is cut.
    var isCut = false
    /// The jitter of the arrived items of each stream.
    private(set) var jitter: [Stream: Jitter] = [:]

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
        tally = FrameTally(addingTo: sender.outgoing, receiver.incoming)
        audio = FrameTally(addingTo: sender.outgoingAudio, receiver.incomingAudio)
    }

    /// The number of video frames in transit.
    var framesOnTheWay: Int {
        onTheWay.reduce(0) { $0 + ($1.key == .audio ? 0 : $1.value) }
    }

    /// Records the transit time of a frame.
    func note(transit: Duration, of stream: Stream) {
        jitter[stream, default: Jitter()].note(transit)
    }

    /// The largest jitter of the video; `nil` if none has arrived.
    var videoJitter: Duration? {
        jitter.compactMap { $0.key == .audio ? nil : $0.value.value }.max()
    }

    /// Ends a stream. Items that wait for a lost item are discarded.
    func end(_ stream: Stream, _ deferred: inout DeferredActions) {
        for item in orders[stream]?.arrived.removeAll() ?? [] {
            item.tally?.count(.closed)
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
