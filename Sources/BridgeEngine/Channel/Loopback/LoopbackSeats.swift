internal import MediaCore

/// Who is in a loopback channel, and what each is told. All of it happens under the channel's lock, so
/// that everybody hears of everything in one and the same order.
struct LoopbackSeats {
    private struct Way {
        let seat: Int
        let member: LoopbackMember
        let tally: FrameTally
        let audio: FrameTally
    }
    private struct Place {
        let member: LoopbackMember
        var tracks: [TrackID] = []
        var hasAudio = false
        /// To each of the others.
        var ways: [Way] = []
    }

    /// Words that wait for one receiver at most. They never give way, so he who takes none must go.
    private static let patience = 4096
    /// Pieces of one sender's sound that wait for one receiver at most: a second or more.
    private static let soundDepth = 100

    private var places: [Int: Place] = [:]
    private var lastSeat = 0
    /// Those who let too many words wait.
    private var overrun: Set<Int> = []
    private var aftermath = LoopbackAftermath()

    var isEmpty: Bool { places.isEmpty }

    mutating func takeAftermath() -> LoopbackAftermath {
        defer { aftermath = LoopbackAftermath() }
        return aftermath
    }

    /// The newcomer is told of those who are there, then they of him.
    ///
    /// - Returns: His seat; `nil` where somebody of that name has one.
    mutating func add(_ newcomer: LoopbackMember) -> Int? {
        guard !places.values.contains(where: { $0.member.user == newcomer.user }) else {
            return nil
        }
        lastSeat += 1
        var place = Place(member: newcomer)
        for (seat, other) in places.sorted(by: { $0.key < $1.key }) {
            put(.joined(other.member.user), before: newcomer)
            for track in other.tracks {
                put(.published(track, other.member.user), before: newcomer)
            }
            if other.hasAudio { put(.audioPublished(other.member.user), before: newcomer) }
            place.ways.append(Self.way(from: newcomer, to: other.member, at: seat))
            places[seat]?.ways.append(Self.way(from: other.member, to: newcomer, at: lastSeat))
        }
        places[lastSeat] = place
        tell(place.ways, .joined(newcomer.user))
        return lastSeat
    }

    mutating func remove(_ seat: Int, reason: OfflineReason) {
        guard let place = takeOut(seat) else { return }
        tell(place.ways, .left(place.member.user, reason))
    }

    mutating func publish(_ track: TrackID, from seat: Int) {
        guard let place = places[seat], !place.tracks.contains(track) else { return }
        places[seat]?.tracks.append(track)
        tell(place.ways, .published(track, place.member.user))
    }

    mutating func unpublish(_ track: TrackID, from seat: Int) {
        guard let place = places[seat], place.tracks.contains(track) else { return }
        places[seat]?.tracks.removeAll { $0 == track }
        tell(place.ways, .unpublished(track, place.member.user))
    }

    mutating func send(
        _ frame: VideoFrame, track: TrackID, from seat: Int
    ) -> FrameDisposition {
        guard let place = places[seat] else { return .dropped(.closed) }
        guard place.tracks.contains(track) else { return .notStarted }
        place.member.countSent()
        for way in place.ways {
            way.tally.countSent()
            let item = LoopbackItem.frame(frame, track, way.tally, from: place.member.user)
            let placement = way.member.mailbox.place(item)
            if placement.verdict == .closed { way.tally.countClosed() }
            aftermath.note(placement, for: way.member)
        }
        return .accepted
    }

    mutating func publishAudio(from seat: Int) {
        guard let place = places[seat], !place.hasAudio else { return }
        places[seat]?.hasAudio = true
        tell(place.ways, .audioPublished(place.member.user))
    }

    mutating func unpublishAudio(from seat: Int) {
        guard let place = places[seat], place.hasAudio else { return }
        places[seat]?.hasAudio = false
        tell(place.ways, .audioUnpublished(place.member.user))
    }

    /// Sound takes no picture's place and gives way to none: of a sender's, so much waits for a receiver,
    /// and what comes then is lost.
    mutating func send(_ frame: AudioFrame, from seat: Int) -> FrameDisposition {
        guard let place = places[seat] else { return .dropped(.closed) }
        guard place.hasAudio else { return .notStarted }
        for way in place.ways {
            way.audio.countSent()
            guard way.audio.frames.waiting <= Self.soundDepth else {
                way.audio.countEvicted()
                continue
            }
            let item = LoopbackItem.audio(frame, way.audio, from: place.member.user)
            let placement = way.member.mailbox.place(item, whenFull: .keep)
            if placement.verdict == .closed { way.audio.countClosed() }
            aftermath.note(placement, for: way.member)
        }
        return .accepted
    }

    /// Everybody hears the error after what waits for him, and nothing after it.
    mutating func end(_ error: EngineError) {
        for seat in places.keys { end(seat, error) }
    }

    func statistics(of seat: Int, into statistics: inout ChannelStatistics) {
        for way in places[seat]?.ways ?? [] {
            statistics.to[way.member.user] = way.tally.frames
        }
        for place in places.values {
            guard let way = place.ways.first(where: { $0.seat == seat }) else { continue }
            statistics.from[place.member.user] = way.tally.frames
        }
    }
}

extension LoopbackSeats {
    private static func way(
        from sender: LoopbackMember, to receiver: LoopbackMember, at seat: Int
    ) -> Way {
        let tally = FrameTally(addingTo: sender.outgoing, receiver.incoming)
        let audio = FrameTally(addingTo: sender.outgoingAudio, receiver.incomingAudio)
        return Way(seat: seat, member: receiver, tally: tally, audio: audio)
    }

    @discardableResult
    private mutating func takeOut(_ seat: Int) -> Place? {
        guard let place = places.removeValue(forKey: seat) else { return nil }
        for way in place.ways { places[way.seat]?.ways.removeAll { $0.seat == seat } }
        aftermath.note(gone: place.member)
        return place
    }

    private mutating func end(_ seat: Int, _ error: EngineError) {
        guard let place = takeOut(seat) else { return }
        aftermath.note(place.member.mailbox.seal(with: .disconnected(error)), for: place.member)
    }

    @discardableResult
    private mutating func put(_ word: LoopbackItem, before member: LoopbackMember) -> Int {
        let placement = member.mailbox.place(word, whenFull: .keep)
        aftermath.note(placement, for: member)
        return placement.kept
    }

    /// Tells those whom a way leads to, and sends away who has not listened for too long.
    private mutating func tell(_ ways: [Way], _ word: LoopbackItem) {
        for way in ways where put(word, before: way.member) > Self.patience {
            overrun.insert(way.seat)
        }
        while let seat = overrun.popFirst() {
            guard let place = places[seat] else { continue }
            let user = place.member.user
            end(
                seat,
                EngineError(
                    .disconnected,
                    message:
                        "\(user) was taken out of the channel: \(Self.patience) events wait for it",
                    advice: "return from the receiver's calls at once"))
            tell(place.ways, .left(user, .dropped))
        }
    }
}
