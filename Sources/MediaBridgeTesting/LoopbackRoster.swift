internal import BridgeEngine
internal import MediaBasics
internal import MediaCore

/// The members of a loopback channel, and the events that they get of each other. All changes are
/// made under the channel's lock, so that all members receive all events in the same order.
struct LoopbackRoster {
    /// The maximum number of events that wait for one receiver; waiting audio frames count too.
    /// Events are never evicted, so a member with more waiting events is removed.
    private static let maximumWaitingEvents = 4096

    var places: [Int: LoopbackPlace] = [:]
    private var lastSlot = 0
    /// The number of outages so far.
    private var outageCount = 0
    /// Members with too many waiting events.
    private var overrun: Set<Int> = []
    var deferred = DeferredActions()
    /// How long a member stays in the channel while its connection is cut.
    let reconnectionTimeout: Duration
    let timeline: any Timeline

    init(reconnectionTimeout: Duration, timeline: any Timeline) {
        (self.reconnectionTimeout, self.timeline) = (reconnectionTimeout, timeline)
    }

    var isEmpty: Bool { places.isEmpty }

    mutating func takeDeferredActions() -> DeferredActions {
        defer { deferred = DeferredActions() }
        return deferred
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
            for publication in other.publications {
                let stream = publication.stream
                put(.published(stream, by: user), before: newcomer)
                if publication.isMuted { put(.muted(true, stream, by: user), before: newcomer) }
            }
            place.routes.append(LoopbackRoute(from: newcomer, to: other.member, at: slot))
            places[slot]?.routes.append(
                LoopbackRoute(from: other.member, to: newcomer, at: lastSlot))
        }
        places[lastSlot] = place
        notify(place.routes, .joined(newcomer.user))
        for (slot, other) in places where slot != lastSlot {
            for publication in other.publications {
                applyDemands(for: publication.stream, of: slot)
            }
        }
        return lastSlot
    }

    func slot(of user: UserID) -> Int? { places.first { $0.value.member.user == user }?.key }

    /// Ends the membership of one member. The others are notified.
    ///
    /// - Parameter error: Received by the member after its queued items, with nothing afterwards; `nil`
    ///   for a member that has left.
    mutating func remove(_ slot: Int, reason: OfflineReason, because error: EngineError? = nil) {
        guard let place = takeOut(slot, because: error) else { return }
        notify(place.routes, .left(place.member.user, reason))
    }

    /// Ends all memberships.
    mutating func end(_ error: EngineError) {
        for slot in places.keys { takeOut(slot, because: error) }
    }

    // MARK: Streams

    mutating func publish(
        _ stream: MediaTrackID, _ feedback: (any PublicationFeedback)?, from slot: Int
    ) {
        guard let place = places[slot], place.place(of: stream) == nil else { return }
        places[slot]?.publications.append(.init(stream: stream, feedback: feedback))
        announce(.published(stream, by: place.member.user), from: slot)
        applyDemands(for: stream, of: slot)
    }

    mutating func unpublish(_ stream: MediaTrackID, from slot: Int) {
        guard let place = places[slot], let index = place.place(of: stream) else { return }
        places[slot]?.publications.remove(at: index)
        deferred.release(place.publications[index])
        for route in place.routes { route.end(stream) }
        announce(.unpublished(stream, by: place.member.user), from: slot)
    }

    mutating func mute(_ isMuted: Bool, _ stream: MediaTrackID, from slot: Int) {
        guard let place = places[slot], let index = place.place(of: stream),
            place.publications[index].isMuted != isMuted
        else { return }
        places[slot]?.publications[index].isMuted = isMuted
        for route in place.routes { route.end(stream) }
        announce(.muted(isMuted, stream, by: place.member.user), from: slot)
        reportPublisher(of: stream, at: slot)
    }

    // MARK: Demand

    mutating func setDemand(
        _ demand: VideoLimit?, _ track: TrackID, of user: UserID, by slot: Int
    ) {
        places[slot]?.demands[.init(user: user, track: track)] = .some(demand)
        if let sender = self.slot(of: user) { applyDemands(for: .video(track), of: sender) }
    }

    /// Applies the demands of all members for a stream to the routes that carry it. Audio is always
    /// wanted.
    private mutating func applyDemands(for stream: MediaTrackID, of sender: Int) {
        guard case .video(let track) = stream, let place = places[sender] else { return }
        for route in place.routes {
            let isWanted =
                places[route.slot]?.demand(track, of: place.member.user) != nil
            if isWanted {
                route.unwanted.remove(stream)
            } else if route.unwanted.insert(stream).inserted {
                route.end(stream)
            }
        }
        reportPublisher(of: stream, at: sender)
    }

    /// Reports to the publisher of a track whether the track is sent, and the form that is useful.
    mutating func reportPublisher(of stream: MediaTrackID, at slot: Int) {
        guard case .video(let track) = stream, let place = places[slot],
            let index = place.place(of: stream)
        else { return }
        let entry = place.publications[index]
        let demands = place.routes.compactMap {
            places[$0.slot]?.demand(track, of: place.member.user)
        }
        let limit = VideoLimit(covering: demands)
        let isSending = !demands.isEmpty && !entry.isMuted && place.outage == nil
        places[slot]?.publications[index].isSending = isSending
        places[slot]?.publications[index].limit = limit
        if isSending != entry.isSending {
            let state = isSending ? PublicationState.sending : .paused
            notify(entry, of: place.member) { $0.stateChanged(state) }
        }
        if limit != entry.limit {
            notify(entry, of: place.member) { $0.limitChanged(limit) }
        }
    }

    private mutating func reportPublishers(at slot: Int) {
        for publication in places[slot]?.publications ?? [] {
            reportPublisher(of: publication.stream, at: slot)
        }
    }

    /// Queues a call of a publication's feedback.
    mutating func notify(
        _ publication: LoopbackPlace.Publication, of member: LoopbackMember,
        _ call: @escaping @Sendable (any PublicationFeedback) -> Void
    ) {
        guard let feedback = publication.feedback else { return }
        put(.call { call(feedback) }, before: member)
    }

    func statistics(of member: LoopbackMember, at slot: Int) -> ChannelStatistics {
        var statistics = ChannelStatistics()
        statistics.sent = member.sent
        statistics.outgoing = member.outgoing.video.frames
        statistics.incoming = member.incoming.video.frames
        statistics.outgoingAudio = member.outgoing.audio.frames
        statistics.incomingAudio = member.incoming.audio.frames
        for route in places[slot]?.routes ?? [] {
            statistics.to[route.member.user] = route.tallies.video.frames
        }
        for place in places.values {
            guard let route = place.routes.first(where: { $0.slot == slot }) else { continue }
            statistics.from[place.member.user] = route.tallies.video.frames
        }
        return statistics
    }
}

// The delivery of events.
extension LoopbackRoster {
    @discardableResult
    private mutating func takeOut(_ slot: Int, because error: EngineError?) -> LoopbackPlace? {
        guard let place = places.removeValue(forKey: slot) else { return nil }
        deferred.release(place.publications)
        for other in places.keys {
            places[other]?.routes.removeAll { $0.slot == slot }
            reportPublishers(at: other)
        }
        deferred.release(place.member)
        if let error {
            deferred.note(
                place.member.mailbox.seal(with: .event(.disconnected(error))), for: place.member)
        }
        return place
    }

    @discardableResult
    mutating func put(_ event: MembershipEvent, before member: LoopbackMember) -> Int {
        put(.event(event), before: member)
    }

    @discardableResult
    private mutating func put(_ item: LoopbackItem, before member: LoopbackMember) -> Int {
        let placement = member.mailbox.place(item, whenFull: .keep)
        deferred.note(placement, for: member)
        return placement.kept
    }

    /// Sends an event from a member to the receivers of these routes, by default to all others. If its
    /// connection is cut, the event is held back.
    mutating func announce(
        _ event: MembershipEvent, from slot: Int, on routes: [LoopbackRoute]? = nil
    ) {
        guard let place = places[slot] else { return }
        let routes = routes ?? place.routes
        guard place.outage == nil else {
            places[slot]?.outage?.outbox.append((routes.map(\.slot), event))
            return
        }
        notify(routes, event)
    }

    /// Sends an event to the receivers of these routes, and removes members with too many waiting
    /// events.
    mutating func notify(_ routes: [LoopbackRoute], _ event: MembershipEvent) {
        for route in routes {
            places[route.slot]?.outage?.inbox.append(event)
            let waiting =
                places[route.slot]?.outage?.inbox.count ?? put(event, before: route.member)
            if waiting > Self.maximumWaitingEvents { overrun.insert(route.slot) }
        }
        while let slot = overrun.popFirst() {
            guard let user = places[slot]?.member.user else { continue }
            remove(
                slot, reason: .dropped,
                because: EngineError(
                    .disconnected,
                    message:
                        "\(user) was removed from the channel: \(Self.maximumWaitingEvents) events are waiting",
                    advice: "return from the receiver's methods without delay"))
        }
    }
}

// Connections that are cut and restored, and messages.
extension LoopbackRoster {
    /// Cuts a member's connection: frames from it and to it are lost, and events are held back.
    ///
    /// - Returns: The number of the outage; `nil` if the connection is cut already.
    mutating func cut(_ slot: Int, because cause: EngineError) -> Int? {
        guard let place = places[slot], place.outage == nil else { return nil }
        outageCount += 1
        places[slot]?.outage = LoopbackPlace.Outage(
            number: outageCount, begin: timeline.now, cause: cause)
        resetChains(of: slot)
        put(.reconnecting(attempt: 1, cause), before: place.member)
        reportPublishers(at: slot)
        return outageCount
    }

    /// Notifies a member that its connection is still cut, or removes the member after `reconnectionTimeout`.
    ///
    /// - Returns: Whether the outage continues.
    mutating func attempt(_ slot: Int, outage number: Int) -> Bool {
        guard let place = places[slot], let outage = place.outage, outage.number == number else {
            return false
        }
        guard timeline.now - outage.begin < reconnectionTimeout else {
            remove(
                slot, reason: .dropped,
                because: EngineError(
                    .disconnected,
                    message: "\(place.member.user) had no connection for \(reconnectionTimeout)",
                    underlying: outage.cause))
            return false
        }
        places[slot]?.outage?.attempt += 1
        put(.reconnecting(attempt: outage.attempt + 1, outage.cause), before: place.member)
        return true
    }

    /// Restores a member's connection. The events that were held back are delivered to the member
    /// and to the others.
    mutating func heal(_ slot: Int) {
        guard let outage = places[slot]?.outage.take(), let place = places[slot] else { return }
        resetChains(of: slot)
        put(.reconnected, before: place.member)
        for event in outage.inbox { put(event, before: place.member) }
        for (slots, event) in outage.outbox {
            notify(place.routes.filter { slots.contains($0.slot) }, event)
        }
        reportPublishers(at: slot)
    }

    /// Whether a member's connection is cut.
    func isCut(_ slot: Int) -> Bool { places[slot]?.outage != nil }

    /// Resets the reference chains from and to a member whose connection has changed, because units
    /// may be missing on all of them.
    private func resetChains(of slot: Int) {
        for (sender, place) in places {
            for route in place.routes where sender == slot || route.slot == slot {
                (route.chains, route.requested) = ([:], [:])
            }
        }
    }

    // MARK: Messages

    /// - Returns: False if there is no such user.
    mutating func send(_ message: ChannelMessage, to user: UserID?, from slot: Int) -> Bool {
        guard let place = places[slot] else { return false }
        let routes = place.routes.filter { user == nil || $0.member.user == user }
        guard user == nil || !routes.isEmpty else { return false }
        announce(.message(message, from: place.member.user), from: slot, on: routes)
        return true
    }
}
