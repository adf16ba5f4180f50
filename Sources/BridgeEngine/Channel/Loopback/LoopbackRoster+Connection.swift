internal import MediaCore

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
