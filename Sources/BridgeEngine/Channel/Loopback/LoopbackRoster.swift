internal import MediaBasics
internal import MediaCore

/// The members of a loopback channel, and the events that they get of each other. All changes are
/// made under the channel's lock, so that all members receive all events in the same order.
struct LoopbackRoster {
    struct UserTrack: Hashable {
        let user: UserID
        let track: TrackID
    }

    /// The maximum number of events that wait for one receiver; waiting audio frames count too.
    /// Events are never evicted, so a member with more waiting events is removed.
    private static let maximumWaitingEvents = 4096

    var places: [Int: LoopbackPlace] = [:]
    private var lastSlot = 0
    /// The number of the latest stream or outage.
    private var lastNumber = 0
    /// Members with too many waiting events.
    private var overrun: Set<Int> = []
    var deferred = DeferredActions()
    private var impairment: LoopbackImpairment?
    /// How long a member stays in the channel while its connection is cut.
    let patience: Duration
    let timeline: any Timeline

    init(patience: Duration, timeline: any Timeline) {
        (self.patience, self.timeline) = (patience, timeline)
    }

    var isEmpty: Bool { places.isEmpty }

    mutating func takeDeferredActions() -> DeferredActions {
        defer { deferred = DeferredActions() }
        return deferred
    }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Members

    /// Adds a member. The new member first receives the existing members; then they are notified of
    /// it.
    ///
    /// - Parameter wantsAll: Whether the member wants every track without an explicit demand.
    /// - Returns: The new member's slot; `nil` if a member with the same user id exists.
    mutating func add(_ newcomer: LoopbackMember, wantsAll: Bool) -> Int? {
        guard slot(of: newcomer.user) == nil else { return nil }
        lastSlot += 1
        var place = LoopbackPlace(member: newcomer, wantsAll: wantsAll)
        for (slot, other) in places.sorted(by: { $0.key < $1.key }) {
            let user = other.member.user
            put(.joined(user), before: newcomer)
            for track in other.tracks {
                put(.published(track.id, user), before: newcomer)
                if track.isMuted { put(.muted(true, track.id, user), before: newcomer) }
            }
            if other.hasAudio {
                put(.audioPublished(user), before: newcomer)
                if other.isAudioMuted { put(.audioMuted(true, user), before: newcomer) }
            }
            place.routes.append(makeRoute(from: newcomer, lastSlot, to: other.member, slot))
            let back = makeRoute(from: other.member, slot, to: newcomer, lastSlot)
            places[slot]?.routes.append(back)
        }
        for route in place.routes where places[route.slot]?.outage != nil {
            route.isCut = true
            places[route.slot]?.routes.last?.isCut = true
        }
        places[lastSlot] = place
        tell(place.routes, .joined(newcomer.user))
        for (slot, other) in places where slot != lastSlot {
            for track in other.tracks { applyDemands(for: track.id, of: slot) }
        }
        return lastSlot
    }

    func slot(of user: UserID) -> Int? { places.first { $0.value.member.user == user }?.key }

    mutating func remove(_ slot: Int, reason: OfflineReason) {
        guard let place = takeOut(slot) else { return }
        tell(place.routes, .left(place.member.user, reason))
    }

    /// Ends the membership of one member: it receives the error after its queued items, and nothing
    /// afterwards. The others are notified.
    mutating func expel(_ slot: Int, _ error: EngineError, reason: OfflineReason) {
        guard let place = end(slot, error) else { return }
        tell(place.routes, .left(place.member.user, reason))
    }

    /// Ends all memberships.
    mutating func end(_ error: EngineError) {
        for slot in places.keys { end(slot, error) }
    }

    // MARK: Tracks

    mutating func publish(
        _ track: TrackID, _ feedback: any PublicationFeedback, from slot: Int
    ) {
        guard let place = places[slot], place.place(of: track) == nil else { return }
        places[slot]?.tracks.append(.init(id: track, feedback: feedback))
        say(.published(track, place.member.user), from: slot)
        applyDemands(for: track, of: slot)
    }

    mutating func unpublish(_ track: TrackID, from slot: Int) {
        guard let place = places[slot], let index = place.place(of: track) else { return }
        places[slot]?.tracks.remove(at: index)
        deferred.note(ended: place.tracks[index].feedback)
        for route in place.routes { route.end(.video(track), &deferred) }
        say(.unpublished(track, place.member.user), from: slot)
    }

    mutating func mute(_ isMuted: Bool, _ track: TrackID, from slot: Int) {
        guard let place = places[slot], let index = place.place(of: track),
            place.tracks[index].isMuted != isMuted
        else { return }
        places[slot]?.tracks[index].isMuted = isMuted
        // Items in transit are discarded, and the stream begins with a key frame after the pause.
        for route in place.routes { route.end(.video(track), &deferred) }
        say(.muted(isMuted, track, place.member.user), from: slot)
        tellPublisher(of: track, at: slot)
    }

    mutating func publishAudio(from slot: Int) {
        guard let place = places[slot], !place.hasAudio else { return }
        places[slot]?.hasAudio = true
        places[slot]?.isAudioMuted = false
        say(.audioPublished(place.member.user), from: slot)
    }

    mutating func unpublishAudio(from slot: Int) {
        guard let place = places[slot], place.hasAudio else { return }
        places[slot]?.hasAudio = false
        for route in place.routes { route.end(.audio, &deferred) }
        say(.audioUnpublished(place.member.user), from: slot)
    }

    mutating func muteAudio(_ isMuted: Bool, from slot: Int) {
        guard let place = places[slot], place.hasAudio, place.isAudioMuted != isMuted else {
            return
        }
        places[slot]?.isAudioMuted = isMuted
        for route in place.routes { route.end(.audio, &deferred) }
        say(.audioMuted(isMuted, place.member.user), from: slot)
    }

    // MARK: Demand

    mutating func setDemand(
        _ demand: VideoLimit?, _ track: TrackID, of user: UserID, by slot: Int
    ) {
        places[slot]?.demands[.init(user: user, track: track)] = .some(demand)
        if let sender = self.slot(of: user) { applyDemands(for: track, of: sender) }
    }

    /// Applies the demands of all members for a track to the routes that carry it.
    private mutating func applyDemands(for track: TrackID, of sender: Int) {
        guard let place = places[sender] else { return }
        for route in place.routes {
            let isWanted =
                places[route.slot]?.demand(track, of: place.member.user) != nil
            if isWanted {
                route.unwanted.remove(track)
            } else if route.unwanted.insert(track).inserted {
                route.end(.video(track), &deferred)
            }
        }
        tellPublisher(of: track, at: sender)
    }

    /// Reports to the publisher of a track whether the track is sent, and the form that is useful.
    mutating func tellPublisher(of track: TrackID, at slot: Int) {
        guard let place = places[slot], let index = place.place(of: track) else { return }
        let entry = place.tracks[index]
        let demands = place.routes.compactMap {
            places[$0.slot]?.demand(track, of: place.member.user)
        }
        var limit = VideoLimit()
        if !demands.isEmpty {
            // A size or rate that one member wants without a limit is not limited.
            let sizes = demands.compactMap(\.size)
            let rates = demands.compactMap(\.frameRate)
            if sizes.count == demands.count {
                limit.size = sizes.max { $0.width * $0.height < $1.width * $1.height }
            }
            if rates.count == demands.count { limit.frameRate = rates.max() }
        }
        limit.bitRate = impairment?.bitRate.map { $0 / 10 * 9 }
        let isSending = !demands.isEmpty && !entry.isMuted && place.outage == nil
        places[slot]?.tracks[index].isSending = isSending
        places[slot]?.tracks[index].limit = limit
        if isSending != entry.isSending {
            let state = isSending ? PublicationState.sending : .paused
            put(.feedback(entry.feedback, .state(state)), before: place.member)
        }
        if limit != entry.limit {
            put(.feedback(entry.feedback, .limit(limit)), before: place.member)
        }
    }

    // MARK: Network

    /// Impairs the network from now on; `nil` for a perfect one.
    mutating func impair(_ impairment: LoopbackImpairment?) {
        self.impairment = impairment
        for (slot, place) in places {
            for route in place.routes { impair(route, from: slot) }
            for track in place.tracks { tellPublisher(of: track.id, at: slot) }
        }
    }

    private func impair(_ route: LoopbackRoute, from slot: Int) {
        if route.link == nil, let impairment {
            route.link = LossyLink(
                impairment, number: UInt64(slot) << 32 | UInt64(route.slot))
        } else {
            // A route that was impaired keeps its link, which preserves the order: frames may be in
            // transit.
            route.link?.change(to: impairment ?? LoopbackImpairment())
        }
    }

    func statistics(of slot: Int, into statistics: inout ChannelStatistics) {
        for route in places[slot]?.routes ?? [] {
            statistics.to[route.member.user] = route.tally.frames
        }
        for place in places.values {
            guard let route = place.routes.first(where: { $0.slot == slot }) else { continue }
            statistics.from[place.member.user] = route.tally.frames
            guard route.link != nil else { continue }
            statistics.jitter[place.member.user] = route.videoJitter
            statistics.audioJitter[place.member.user] = route.jitter[.audio]?.value
        }
    }
}

// The delivery of events.
extension LoopbackRoster {
    private func makeRoute(
        from sender: LoopbackMember, _ from: Int, to receiver: LoopbackMember, _ to: Int
    ) -> LoopbackRoute {
        let route = LoopbackRoute(from: sender, to: receiver, at: to)
        impair(route, from: from)
        return route
    }

    @discardableResult
    private mutating func takeOut(_ slot: Int) -> LoopbackPlace? {
        guard let place = places.removeValue(forKey: slot) else { return nil }
        for route in place.routes { route.endAll(&deferred) }
        for track in place.tracks { deferred.note(ended: track.feedback) }
        for (other, there) in places {
            for route in there.routes where route.slot == slot { route.endAll(&deferred) }
            places[other]?.routes.removeAll { $0.slot == slot }
            for track in there.tracks { tellPublisher(of: track.id, at: other) }
        }
        deferred.note(gone: place.member)
        return place
    }

    @discardableResult
    private mutating func end(_ slot: Int, _ error: EngineError) -> LoopbackPlace? {
        guard let place = takeOut(slot) else { return nil }
        deferred.note(place.member.mailbox.seal(with: .disconnected(error)), for: place.member)
        return place
    }

    @discardableResult
    mutating func put(_ word: LoopbackItem, before member: LoopbackMember) -> Int {
        let placement = member.mailbox.place(word, whenFull: .keep)
        deferred.note(placement, for: member)
        return placement.kept
    }

    /// Sends an event from a member to all others. If its connection is cut, the event is held
    /// back.
    mutating func say(_ word: LoopbackItem, from slot: Int) {
        guard let place = places[slot] else { return }
        guard place.outage == nil else {
            places[slot]?.outage?.outbox.append((place.routes.map(\.slot), word))
            return
        }
        tell(place.routes, word)
    }

    /// Sends an event to the receivers of these routes, and removes members with too many waiting
    /// events.
    mutating func tell(_ routes: [LoopbackRoute], _ word: LoopbackItem) {
        for route in routes {
            guard places[route.slot]?.outage == nil else {
                places[route.slot]?.outage?.inbox.append(word)
                if (places[route.slot]?.outage?.inbox.count ?? 0) > Self.maximumWaitingEvents {
                    overrun.insert(route.slot)
                }
                continue
            }
            if put(word, before: route.member) > Self.maximumWaitingEvents {
                overrun.insert(route.slot)
            }
        }
        while let slot = overrun.popFirst() {
            guard let user = places[slot]?.member.user else { continue }
            expel(
                slot,
                EngineError(
                    .disconnected,
                    message:
                        "\(user) was removed from the channel: \(Self.maximumWaitingEvents) events are waiting",
                    advice: "return from the receiver's methods without delay"), reason: .dropped)
        }
    }
}

// Connections that are cut and restored, and messages.
extension LoopbackRoster {
    private static let attemptInterval = Duration.seconds(1)

    /// Cuts a member's connection: frames from it and to it are lost, and events are held back.
    mutating func cut(_ slot: Int, because cause: EngineError) {
        guard let place = places[slot], place.outage == nil else { return }
        let outage = LoopbackPlace.Outage(
            number: nextNumber(), at: timeline.now, because: cause)
        places[slot]?.outage = outage
        markCut(slot)
        put(.connection(.reconnecting(attempt: 1, cause)), before: place.member)
        for track in place.tracks { tellPublisher(of: track.id, at: slot) }
        deferred.note(after: Self.attemptInterval, .attempt(slot, outage: outage.number))
    }

    /// Notifies a member that its connection is still cut, or removes the member after `patience`.
    mutating func attempt(_ slot: Int, outage number: Int) {
        guard let place = places[slot], let outage = place.outage, outage.number == number else {
            return
        }
        guard timeline.now - outage.begin < patience else {
            return expel(
                slot,
                EngineError(
                    .disconnected,
                    message: "\(place.member.user) had no connection for \(patience)",
                    underlying: outage.cause), reason: .dropped)
        }
        places[slot]?.outage?.attempt += 1
        put(
            .connection(.reconnecting(attempt: outage.attempt + 1, outage.cause)),
            before: place.member)
        deferred.note(after: Self.attemptInterval, .attempt(slot, outage: number))
    }

    /// Restores a member's connection. The events that were held back are delivered to the member
    /// and to the others.
    mutating func heal(_ slot: Int) {
        guard let outage = places[slot]?.outage.take(), let place = places[slot] else { return }
        markCut(slot)
        put(.connection(.connected), before: place.member)
        for word in outage.inbox { put(word, before: place.member) }
        for (slots, word) in outage.outbox {
            tell(place.routes.filter { slots.contains($0.slot) }, word)
        }
        for track in place.tracks { tellPublisher(of: track.id, at: slot) }
    }

    /// Whether a member's connection is cut.
    func isCut(_ slot: Int) -> Bool { places[slot]?.outage != nil }

    /// Marks the routes from and to a member whose connection has changed, and resets their
    /// reference chains, because units may be missing on all of them.
    private func markCut(_ slot: Int) {
        for (sender, place) in places {
            for route in place.routes where sender == slot || route.slot == slot {
                route.isCut = isCut(sender) || isCut(route.slot)
                route.chains = [:]
                route.asked = [:]
            }
        }
    }

    // MARK: Messages

    /// - Returns: False if there is no such user.
    mutating func send(_ message: ChannelMessage, to user: UserID?, from slot: Int) -> Bool {
        guard let place = places[slot] else { return false }
        let word = LoopbackItem.message(message, from: place.member.user)
        guard let user else {
            say(word, from: slot)
            return true
        }
        let routes = place.routes.filter { $0.member.user == user }
        guard !routes.isEmpty else { return false }
        if place.outage != nil {
            places[slot]?.outage?.outbox.append((routes.map(\.slot), word))
        } else {
            tell(routes, word)
        }
        return true
    }
}
