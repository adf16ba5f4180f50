internal import MediaCore

// The delivery of frames and units.
extension LoopbackRoster {
    /// The maximum number of audio frames of one sender that wait for one receiver: a second or
    /// more.
    private static let audioDepth = 100
    /// The maximum number of units of one sender that wait for one receiver: two seconds or more.
    private static let unitDepth = 64
    /// The minimum interval between two requests for a key frame, if none has arrived.
    private static let keyFrameInterval = Duration.milliseconds(500)

    /// An item on its way from one member to another.
    struct Flight: Sendable {
        let from: Int
        let to: Int
        let stream: ChannelStream
        /// Distinguishes consecutive streams of the same name.
        let order: Int
        let number: Int
        let item: LoopbackItem
        let sent: Duration
    }

    /// Sends media to the members that want it. Audio does not count towards the video depth and
    /// does not evict video. At most `audioDepth` audio frames of one sender wait for a receiver;
    /// further frames are dropped. If too many video units wait for a receiver, further units are
    /// dropped up to the next key frame. Queued units are not evicted, because later units refer to
    /// them.
    mutating func send(
        _ media: ChannelMedia, _ stream: ChannelStream, from slot: Int
    ) -> FrameDisposition {
        guard let place = places[slot] else { return .dropped(.closed) }
        guard let index = place.place(of: stream) else { return .notStarted }
        guard !place.publications[index].isMuted else { return .dropped(.muted) }
        if stream != .audio { place.member.countSent() }
        for route in place.routes where !route.unwanted.contains(stream) {
            let tally = route.tallies[stream]
            tally.count(.sent)
            pass(
                .media(media, stream, tally, from: place.member.user), media.byteCount, stream,
                from: slot, on: route)
        }
        return .accepted
    }

    // MARK: On the way

    private mutating func pass(
        _ item: LoopbackItem, _ byteCount: Int, _ stream: ChannelStream, from slot: Int,
        on route: LoopbackRoute
    ) {
        guard route.link != nil || route.isCut else {
            return deliver(item, from: slot, on: route)
        }
        var order = route.orders[stream] ?? LoopbackRoute.Order(number: nextNumber())
        defer { route.orders[stream] = order }
        let number = order.sent
        order.sent += 1
        guard !route.isCut, let time = route.link?.send(byteCount, at: timeline.now) else {
            item.count(.dropped(.lost))
            return
        }
        route.onTheWay[stream, default: 0] += 1
        let flight = Flight(
            from: slot, to: route.slot, stream: stream, order: order.number, number: number,
            item: item, sent: timeline.now)
        deferred.note(after: time) {
            item.count(.dropped(.closed))
        } _: {
            $0.arrive(flight)
        }
    }

    mutating func arrive(_ flight: Flight) {
        let route = route(of: flight)
        route?.onTheWay[flight.stream, default: 0] -= 1
        guard let route, route.orders[flight.stream]?.number == flight.order else {
            flight.item.count(.dropped(.closed))
            return
        }
        guard !route.isCut else {
            flight.item.count(.dropped(.lost))
            return
        }
        route.jitter[flight.stream, default: .init()].note(timeline.now - flight.sent)
        let next = route.orders[flight.stream]?.arrived.take(flight.item, number: flight.number)
        guard let next else {
            flight.item.count(.dropped(.lost))
            return
        }
        deliver(next, flight, on: route)
        if route.orders[flight.stream]?.arrived.isWaiting == true {
            let patience = route.link?.impairment.patience ?? .zero
            deferred.note(after: patience) { $0.giveUp(before: flight) }
        }
    }

    /// Skips the items that did not arrive before `flight`.
    mutating func giveUp(before flight: Flight) {
        guard let route = route(of: flight), route.orders[flight.stream]?.number == flight.order
        else { return }
        let next = route.orders[flight.stream]?.arrived.giveUp(before: flight.number) ?? []
        deliver(next, flight, on: route)
    }

    private func route(of flight: Flight) -> LoopbackRoute? {
        places[flight.from]?.routes.first { $0.slot == flight.to }
    }

    private mutating func deliver(
        _ output: [Resequencer<LoopbackItem>.Output], _ flight: Flight, on route: LoopbackRoute
    ) {
        for next in output {
            switch next {
            case .item(let item): deliver(item, from: flight.from, on: route)
            case .gap:
                guard route.chains[flight.stream]?.lose() != nil else { continue }
                askForKeyFrame(flight.stream, of: flight.from, on: route)
            }
        }
    }

    // MARK: At the receiver

    private mutating func deliver(
        _ item: LoopbackItem, from slot: Int, on route: LoopbackRoute
    ) {
        guard case .media(let media, let stream, let tally, _) = item else { return }
        switch media {
        case .unit(let unit):
            var chain = route.chains[stream] ?? ReferenceChain()
            defer { route.chains[stream] = chain }
            let isUsable = chain.admits(unit.references)
            let hasRoom = tally.frames.waiting <= Self.unitDepth + route.framesOnTheWay
            guard isUsable, hasRoom else {
                if isUsable {
                    tally.count(.dropped(.evicted))
                } else {
                    tally.count(.dropped(.needsKeyFrame))
                }
                deferred.release(item)
                _ = chain.lose()
                return askForKeyFrame(stream, of: slot, on: route)
            }
            if unit.references == .none { route.requested[stream] = nil }
            place(item, .keep, on: route)
        case .samples, .audioUnit:
            guard tally.frames.waiting <= Self.audioDepth + (route.onTheWay[.audio] ?? 0) else {
                tally.count(.dropped(.evicted))
                return deferred.release(item)
            }
            place(item, .keep, on: route)
        case .picture: place(item, .evictOldest, on: route)
        }
    }

    private mutating func place(
        _ item: LoopbackItem, _ whenFull: Mailbox<LoopbackItem>.WhenFull, on route: LoopbackRoute
    ) {
        let placement = route.member.mailbox.place(item, whenFull: whenFull)
        if placement.verdict == .closed {
            item.count(.dropped(.closed))
            deferred.release(item)
        }
        deferred.note(placement, for: route.member)
    }

    /// Requests a key frame from the publisher of a track, unless one was requested just before.
    private mutating func askForKeyFrame(
        _ stream: ChannelStream, of slot: Int, on route: LoopbackRoute
    ) {
        let now = timeline.now
        if let last = route.requested[stream], now - last < Self.keyFrameInterval { return }
        route.requested[stream] = now
        guard let delay = route.link?.impairment.delay, delay > .zero else {
            return keyFrameNeeded(stream, of: slot)
        }
        deferred.note(after: delay) { $0.keyFrameNeeded(stream, of: slot) }
    }

    mutating func requestKeyFrame(_ track: TrackID, of user: UserID, by slot: Int) {
        guard let sender = self.slot(of: user),
            let route = places[sender]?.routes.first(where: { $0.slot == slot }), !route.isCut
        else { return }
        askForKeyFrame(.video(track), of: sender, on: route)
    }

    mutating func keyFrameNeeded(_ stream: ChannelStream, of slot: Int) {
        guard let place = places[slot], let index = place.place(of: stream) else { return }
        notify(place.publications[index], of: place.member) { $0.keyFrameNeeded() }
    }
}
