internal import BridgeEngine
internal import MediaCore

/// A member's place in a loopback channel. Only for use under the channel's lock.
struct LoopbackPlace {
    /// A stream that the member has announced.
    struct Publication {
        let stream: MediaTrackID
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
        var outbox: [(slots: [Int], event: MembershipEvent)] = []
    }

    func place(of stream: MediaTrackID) -> Int? {
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
    let slot: Int
    let member: LoopbackMember
    let tallies: ChannelTallies
    /// The tracks that the receiver does not want.
    var unwanted: Set<MediaTrackID> = []
    /// The receiver's reference chain of each track that consists of units.
    var chains: [MediaTrackID: ReferenceChain] = [:]
    /// When a key frame was last requested from the sender.
    var requested: [MediaTrackID: Duration] = [:]

    init(from sender: LoopbackMember, to receiver: LoopbackMember, at slot: Int) {
        self.slot = slot
        member = receiver
        tallies = ChannelTallies(addingTo: sender.outgoing, receiver.incoming)
    }

    /// Ends a stream, so that its video begins with a key frame if it continues.
    func end(_ stream: MediaTrackID) {
        (chains[stream], requested[stream]) = (nil, nil)
    }
}
