internal import BridgeEngine

/// The room's users and publications as reported by the server, and the part of them that was
/// reported to the receiver. ``settle()`` returns the difference.
struct Directory: Sendable {
    /// This side's user, which is excluded.
    private let own: UserID
    private var users: Set<UserID> = []
    /// What is published now.
    private(set) var feeds: [FeedID: Feed] = [:]
    /// Whether each announced stream of each announced user is muted.
    private var announced: [UserID: [MediaTrackID: Bool]] = [:]
    /// Users that were present before the connection was interrupted, or whose connection was, and may come back.
    private var missing: Set<UserID> = []
    /// Users that have announced that they are leaving.
    private var departing: Set<UserID> = []
    private var reasons: [UserID: OfflineReason] = [:]

    init(own: UserID) { self.own = own }

    // MARK: State reported by the server

    /// Starts over: the server reports the whole room again. Users that were present before are
    /// kept until ``giveUpMissing()``.
    mutating func reset() {
        missing = Set(announced.keys)
        (users, feeds, departing, reasons) = ([], [:], [], [:])
    }

    /// Adds participants, and their streams if the server reports them.
    mutating func add(_ participants: [VideoRoomData.Participant]) {
        for participant in participants {
            let id = FeedID(participant.id)
            guard id.user != own, !participant.id.isEmpty else { continue }
            if id.track == .main { users.insert(id.user) }
            guard let streams = participant.streams else { continue }
            let feed = Feed(streams)
            feeds[id] = feed.video == nil && feed.audio == nil ? nil : feed
        }
    }

    mutating func unpublish(_ text: String) {
        let id = FeedID(text)
        feeds[id] = nil
        missing.remove(id.user)
    }

    /// Removes a participant that has left or was kicked.
    ///
    /// - Returns: The user, if its connection was lost: it is kept until ``giveUp(_:)``.
    mutating func remove(_ text: String, isKicked: Bool = false) -> UserID? {
        let id = FeedID(text)
        let feed = feeds.removeValue(forKey: id)
        let wasLost = missing.remove(id.user) != nil
        // Janus may report that a kicked user has left before it reports the kick.
        if isKicked, wasLost { reasons[id.user] = .kicked }
        guard id.track == .main, users.remove(id.user) != nil else { return nil }
        for other in feeds.keys where other.user == id.user { feeds[other] = nil }
        // A crashed client loses its connection before it leaves the room. A client without this
        // library that leaves on purpose loses it afterwards.
        let wasRequested = departing.remove(id.user) != nil || feed != nil
        reasons[id.user] = isKicked ? .kicked : wasRequested ? .quit : .dropped
        guard !isKicked, !wasRequested else { return nil }
        missing.insert(id.user)
        return id.user
    }

    mutating func note(departing user: UserID) {
        if users.contains(user) { departing.insert(user) }
    }

    /// Stops waiting for users that were present before an interruption.
    mutating func giveUpMissing() { missing = [] }

    /// Stops waiting for a user.
    mutating func giveUp(_ user: UserID) { missing.remove(user) }

    // MARK: State reported to the receiver

    /// Whether a user is in the room or may come back, as reported to the receiver.
    func contains(_ user: UserID) -> Bool { announced[user] != nil }

    /// Whether a stream was reported to the receiver as published.
    func hasAnnounced(_ stream: MediaTrackID, of user: UserID) -> Bool {
        announced[user]?[stream] != nil
    }

    /// Returns the changes to report to the receiver now, in order.
    mutating func settle() -> [MembershipEvent] {
        var changes: [MembershipEvent] = []
        for user in announced.keys.sorted(by: { $0.name < $1.name })
        where !users.contains(user) && !missing.contains(user) {
            announced[user] = nil
            changes.append(.left(user, reasons.removeValue(forKey: user) ?? .dropped))
        }
        for user in users.sorted(by: { $0.name < $1.name }) { settle(user, &changes) }
        reasons = [:]
        return changes
    }

    private mutating func settle(_ user: UserID, _ changes: inout [MembershipEvent]) {
        var there = announced[user] ?? [:]
        if announced[user] == nil { changes.append(.joined(user)) }
        var streams: [MediaTrackID: Bool] = [:]
        for (id, feed) in feeds where id.user == user {
            for (stream, state) in [
                (MediaTrackID.video(id.track), feed.video), (.audio, feed.audio),
            ] {
                guard let state, state.mode != .off, stream != .audio || id.track == .main else {
                    continue
                }
                streams[stream] = state.mode == .muted
            }
        }
        // Tracks by number, then audio.
        for stream in Set(there.keys).union(streams.keys).sorted(by: { $0.place < $1.place }) {
            let before = there[stream]
            guard let isMuted = streams[stream] else {
                if missing.contains(user) { continue }
                there[stream] = nil
                changes.append(.unpublished(stream, by: user))
                continue
            }
            there[stream] = isMuted
            if before == nil { changes.append(.published(stream, by: user)) }
            if before ?? false != isMuted { changes.append(.muted(isMuted, stream, by: user)) }
        }
        announced[user] = there
    }
}

extension MediaTrackID {
    /// The place of the stream in the order of announcements.
    fileprivate var place: Int { if case .video(let track) = self { track.number } else { .max } }
}

// MARK: - Publications

/// The streams that a participant publishes through one connection, as reported by the server.
struct Feed: Hashable, Sendable {
    struct Stream: Hashable, Sendable {
        /// Whether the stream is announced, and whether it carries media. It is the stream's
        /// description, which clients without this library leave empty.
        enum Mode: String, Hashable, Sendable {
            case on = ""
            case muted
            /// The connection has a place for the stream, but the stream is not announced.
            case off
        }
        let mid: String
        let mode: Mode
    }
    /// The first video stream.
    var video: Stream?
    /// The first audio stream.
    var audio: Stream?

    init(_ streams: [VideoRoomData.Stream]) {
        for stream in streams where stream.disabled != true {
            let mode = stream.description.flatMap(Stream.Mode.init) ?? .on
            switch stream.type {
            case "video" where video == nil: video = Stream(mid: stream.mid, mode: mode)
            case "audio" where audio == nil: audio = Stream(mid: stream.mid, mode: mode)
            default: break
            }
        }
    }
}

/// The ID under which a track is published in a room. The main track and audio use the user's own
/// ID. A custom track uses the user's ID, `~track~` and a number.
struct FeedID: Hashable, Sendable, CustomStringConvertible {
    let user: UserID
    let track: TrackID

    private static let mark = "~track~"

    init(user: UserID, track: TrackID) {
        self.user = user
        self.track = track
    }

    init(_ text: String) {
        guard let mark = text.ranges(of: Self.mark).last, mark.lowerBound > text.startIndex,
            let number = Int(text[mark.upperBound...]), number > 0,
            text[mark.upperBound...] == "\(number)"
        else {
            self.init(user: UserID(text), track: .main)
            return
        }
        self.init(user: UserID(String(text[..<mark.lowerBound])), track: TrackID(number))
    }

    var description: String {
        track == .main ? user.name : "\(user.name)\(Self.mark)\(track.number)"
    }
}
