internal import MediaCore

/// The members of a loopback channel and the delivery of items to them. Everything happens under
/// the channel's lock, so that all members receive all events in the same order.
struct LoopbackRoster {
    private struct Route {
        let slot: Int
        let member: LoopbackMember
        let tally: FrameTally
        let audio: FrameTally
        /// What the receiver has of each track that consists of units.
        var chains: [TrackID: ReferenceChain] = [:]
    }
    private struct Place {
        let member: LoopbackMember
        var tracks: [TrackID] = []
        var hasAudio = false
        /// One route to each of the other members.
        var routes: [Route] = []
    }

    /// The maximum number of events that wait for one receiver; waiting audio frames count too.
    /// Events are never evicted, so a member whose receiver lets more of them wait is removed.
    private static let maximumWaitingEvents = 4096
    /// The maximum number of audio frames of one sender that wait for one receiver: a second or
    /// more.
    private static let soundDepth = 100
    /// The maximum number of units of one sender that wait for one receiver: two seconds or more.
    private static let unitDepth = 64

    private var places: [Int: Place] = [:]
    private var lastHost = 0
    /// Members for whom too many events wait.
    private var overrun: Set<Int> = []
    private var deferred = DeferredActions()

    var isEmpty: Bool { places.isEmpty }

    mutating func takeDeferredActions() -> DeferredActions {
        defer { deferred = DeferredActions() }
        return deferred
    }

    /// Adds a member. It receives the members who are there first; then they are notified of it.
    ///
    /// - Returns: The new member's slot; `nil` if a member with the same user id exists.
    mutating func add(_ newcomer: LoopbackMember) -> Int? {
        guard !places.values.contains(where: { $0.member.user == newcomer.user }) else {
            return nil
        }
        lastHost += 1
        var place = Place(member: newcomer)
        for (slot, other) in places.sorted(by: { $0.key < $1.key }) {
            put(.joined(other.member.user), before: newcomer)
            for track in other.tracks {
                put(.published(track, other.member.user), before: newcomer)
            }
            if other.hasAudio { put(.audioPublished(other.member.user), before: newcomer) }
            place.routes.append(Self.route(from: newcomer, to: other.member, at: slot))
            places[slot]?.routes.append(Self.route(from: other.member, to: newcomer, at: lastHost))
        }
        places[lastHost] = place
        tell(place.routes, .joined(newcomer.user))
        return lastHost
    }

    mutating func remove(_ slot: Int, reason: OfflineReason) {
        guard let place = takeOut(slot) else { return }
        tell(place.routes, .left(place.member.user, reason))
    }

    mutating func publish(_ track: TrackID, from slot: Int) {
        guard let place = places[slot], !place.tracks.contains(track) else { return }
        places[slot]?.tracks.append(track)
        tell(place.routes, .published(track, place.member.user))
    }

    mutating func unpublish(_ track: TrackID, from slot: Int) {
        guard let place = places[slot], place.tracks.contains(track) else { return }
        places[slot]?.tracks.removeAll { $0 == track }
        for index in place.routes.indices { places[slot]?.routes[index].chains[track] = nil }
        tell(place.routes, .unpublished(track, place.member.user))
    }

    mutating func send(
        _ frame: VideoFrame, track: TrackID, from slot: Int
    ) -> FrameDisposition {
        guard let place = places[slot] else { return .dropped(.closed) }
        guard place.tracks.contains(track) else { return .notStarted }
        place.member.countSent()
        for route in place.routes {
            route.tally.countSent()
            let item = LoopbackItem.frame(frame, track, route.tally, from: place.member.user)
            let placement = route.member.mailbox.place(item)
            if placement.verdict == .closed { route.tally.countClosed() }
            deferred.note(placement, for: route.member)
        }
        return .accepted
    }

    /// Sends an encoded unit. A receiver for whom too many wait gets none up to the next key frame,
    /// because those that wait are needed for the ones that follow.
    mutating func send(
        _ unit: EncodedVideoFrame, track: TrackID, from slot: Int
    ) -> FrameDisposition {
        guard let place = places[slot] else { return .dropped(.closed) }
        guard place.tracks.contains(track) else { return .notStarted }
        place.member.countSent()
        let references = unit.references
        var isKeyFrameNeeded = false
        for (index, route) in place.routes.enumerated() {
            route.tally.countSent()
            var chain = route.chains[track] ?? ReferenceChain()
            defer { places[slot]?.routes[index].chains[track] = chain }
            guard chain.admits(references), route.tally.frames.waiting <= Self.unitDepth else {
                route.tally.countEvicted()
                if chain.lose() { isKeyFrameNeeded = true }
                continue
            }
            let item = LoopbackItem.unit(unit, track, route.tally, from: place.member.user)
            let placement = route.member.mailbox.place(item, whenFull: .keep)
            if placement.verdict == .closed { route.tally.countClosed() }
            deferred.note(placement, for: route.member)
        }
        if isKeyFrameNeeded { put(.keyFrameNeeded(track), before: place.member) }
        return .accepted
    }

    mutating func publishAudio(from slot: Int) {
        guard let place = places[slot], !place.hasAudio else { return }
        places[slot]?.hasAudio = true
        tell(place.routes, .audioPublished(place.member.user))
    }

    mutating func unpublishAudio(from slot: Int) {
        guard let place = places[slot], place.hasAudio else { return }
        places[slot]?.hasAudio = false
        tell(place.routes, .audioUnpublished(place.member.user))
    }

    /// Sends an audio frame. Audio frames neither count towards the video depth nor evict video
    /// frames: at most `soundDepth` of one sender wait for a receiver, and further ones are
    /// dropped.
    mutating func send(_ frame: AudioFrame, from slot: Int) -> FrameDisposition {
        guard let place = places[slot] else { return .dropped(.closed) }
        guard place.hasAudio else { return .notStarted }
        for route in place.routes {
            route.audio.countSent()
            guard route.audio.frames.waiting <= Self.soundDepth else {
                route.audio.countEvicted()
                continue
            }
            let item = LoopbackItem.audio(frame, route.audio, from: place.member.user)
            let placement = route.member.mailbox.place(item, whenFull: .keep)
            if placement.verdict == .closed { route.audio.countClosed() }
            deferred.note(placement, for: route.member)
        }
        return .accepted
    }

    /// Ends the membership of all: each receives the error after its queued items, and nothing
    /// after it.
    mutating func end(_ error: EngineError) {
        for slot in places.keys { end(slot, error) }
    }

    func statistics(of slot: Int, into statistics: inout ChannelStatistics) {
        for route in places[slot]?.routes ?? [] {
            statistics.to[route.member.user] = route.tally.frames
        }
        for place in places.values {
            guard let route = place.routes.first(where: { $0.slot == slot }) else { continue }
            statistics.from[place.member.user] = route.tally.frames
        }
    }
}

extension LoopbackRoster {
    private static func route(
        from sender: LoopbackMember, to receiver: LoopbackMember, at slot: Int
    ) -> Route {
        let tally = FrameTally(addingTo: sender.outgoing, receiver.incoming)
        let audio = FrameTally(addingTo: sender.outgoingAudio, receiver.incomingAudio)
        return Route(slot: slot, member: receiver, tally: tally, audio: audio)
    }

    @discardableResult
    private mutating func takeOut(_ slot: Int) -> Place? {
        guard let place = places.removeValue(forKey: slot) else { return nil }
        for route in place.routes { places[route.slot]?.routes.removeAll { $0.slot == slot } }
        deferred.note(gone: place.member)
        return place
    }

    private mutating func end(_ slot: Int, _ error: EngineError) {
        guard let place = takeOut(slot) else { return }
        deferred.note(place.member.mailbox.seal(with: .disconnected(error)), for: place.member)
    }

    @discardableResult
    private mutating func put(_ word: LoopbackItem, before member: LoopbackMember) -> Int {
        let placement = member.mailbox.place(word, whenFull: .keep)
        deferred.note(placement, for: member)
        return placement.kept
    }

    /// Sends an event to the receivers of these routes, and removes members for whom too many
    /// events wait.
    private mutating func tell(_ routes: [Route], _ word: LoopbackItem) {
        for route in routes where put(word, before: route.member) > Self.maximumWaitingEvents {
            overrun.insert(route.slot)
        }
        while let slot = overrun.popFirst() {
            guard let place = places[slot] else { continue }
            let user = place.member.user
            end(
                slot,
                EngineError(
                    .disconnected,
                    message:
                        "\(user) was taken out of the channel: \(Self.maximumWaitingEvents) events wait for it",
                    advice: "return from the receiver's calls at once"))
            tell(place.routes, .left(user, .dropped))
        }
    }
}
