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
        let stream: LoopbackRoute.Stream
        /// Distinguishes consecutive streams of the same name.
        let order: Int
        let number: Int
        let item: LoopbackItem
        let sent: Duration
    }

    mutating func send(
        _ frame: VideoFrame, track: TrackID, from slot: Int
    ) -> FrameDisposition {
        send(track, from: slot, byteCount: 0) {
            .frame(frame, track, $0.tally, from: $1)
        }
    }

    /// Sends an encoded unit. If too many units wait for a receiver, further units are dropped up
    /// to the next key frame. Queued units are not evicted, because later units refer to them.
    mutating func send(
        _ unit: EncodedVideoFrame, track: TrackID, from slot: Int
    ) -> FrameDisposition {
        send(track, from: slot, byteCount: unit.byteCount) {
            .unit(unit, track, $0.tally, from: $1)
        }
    }

    private mutating func send(
        _ track: TrackID, from slot: Int, byteCount: Int,
        _ item: (LoopbackRoute, UserID) -> LoopbackItem
    ) -> FrameDisposition {
        guard let place = places[slot] else { return .dropped(.closed) }
        guard let index = place.place(of: track) else { return .notStarted }
        guard !place.tracks[index].isMuted else { return .dropped(.muted) }
        place.member.countSent()
        for route in place.routes where !route.unwanted.contains(track) {
            route.tally.countSent()
            pass(item(route, place.member.user), byteCount, .video(track), from: slot, on: route)
        }
        return .accepted
    }

    /// Sends an audio frame. Audio frames do not count towards the video depth and do not evict
    /// video frames. At most `audioDepth` frames of one sender wait for a receiver; further frames
    /// are dropped.
    mutating func send(_ frame: AudioFrame, from slot: Int) -> FrameDisposition {
        sendAudio(from: slot, byteCount: 0) { .audio(frame, $0, from: $1) }
    }

    mutating func send(_ unit: EncodedAudioFrame, from slot: Int) -> FrameDisposition {
        sendAudio(from: slot, byteCount: unit.byteCount) { .audioUnit(unit, $0, from: $1) }
    }

    private mutating func sendAudio(
        from slot: Int, byteCount: Int, _ item: (FrameTally, UserID) -> LoopbackItem
    ) -> FrameDisposition {
        guard let place = places[slot] else { return .dropped(.closed) }
        guard place.hasAudio else { return .notStarted }
        guard !place.isAudioMuted else { return .dropped(.muted) }
        for route in place.routes {
            route.audio.countSent()
            pass(
                item(route.audio, place.member.user), byteCount, .audio, from: slot, on: route)
        }
        return .accepted
    }

    // MARK: On the way

    private mutating func pass(
        _ item: LoopbackItem, _ byteCount: Int, _ stream: LoopbackRoute.Stream, from slot: Int,
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
            item.tally?.count(.lost)
            return
        }
        route.onTheWay[stream, default: 0] += 1
        deferred.note(
            after: time,
            .arrival(
                Flight(
                    from: slot, to: route.slot, stream: stream, order: order.number,
                    number: number, item: item, sent: timeline.now)))
    }

    mutating func arrive(_ flight: Flight) {
        let route = route(of: flight)
        route?.onTheWay[flight.stream, default: 0] -= 1
        guard let route, route.orders[flight.stream]?.number == flight.order else {
            flight.item.tally?.count(.closed)
            return
        }
        guard !route.isCut else {
            flight.item.tally?.count(.lost)
            return
        }
        route.note(transit: timeline.now - flight.sent, of: flight.stream)
        let next = route.orders[flight.stream]?.arrived.take(flight.item, number: flight.number)
        guard let next else {
            flight.item.tally?.count(.lost)
            return
        }
        deliver(next, flight, on: route)
        if route.orders[flight.stream]?.arrived.isWaiting == true {
            let patience = route.link?.impairment.patience ?? .zero
            deferred.note(after: patience, .givingUp(flight))
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
                guard case .video(let track) = flight.stream, var chain = route.chains[track] else {
                    continue
                }
                _ = chain.lose()
                route.chains[track] = chain
                askForKeyFrame(track, of: flight.from, on: route)
            }
        }
    }

    // MARK: At the receiver

    private mutating func deliver(
        _ item: LoopbackItem, from slot: Int, on route: LoopbackRoute
    ) {
        switch item {
        case .unit(let unit, let track, let tally, _):
            var chain = route.chains[track] ?? ReferenceChain()
            defer { route.chains[track] = chain }
            let isUsable = chain.admits(unit.references)
            let hasRoom = tally.frames.waiting <= Self.unitDepth + route.framesOnTheWay
            guard isUsable, hasRoom else {
                if isUsable { tally.count(.evicted) } else { tally.count(.needingKeyFrame) }
                deferred.note(released: item)
                _ = chain.lose()
                return askForKeyFrame(track, of: slot, on: route)
            }
            if unit.references == .none { route.asked[track] = nil }
            place(item, .keep, on: route)
        case .audio(_, let tally, _), .audioUnit(_, let tally, _):
            guard tally.frames.waiting <= Self.audioDepth + (route.onTheWay[.audio] ?? 0) else {
                tally.count(.evicted)
                return deferred.note(released: item)
            }
            place(item, .keep, on: route)
        default: place(item, .evictOldest, on: route)
        }
    }
    private mutating func place(
        _ item: LoopbackItem, _ whenFull: Mailbox<LoopbackItem>.WhenFull, on route: LoopbackRoute
    ) {
        let placement = route.member.mailbox.place(item, whenFull: whenFull)
        if placement.verdict == .closed {
            item.tally?.count(.closed)
            deferred.note(released: item)
        }
        deferred.note(placement, for: route.member)
    }

    /// Requests a key frame from the publisher of a track, unless one was requested just before.
    private mutating func askForKeyFrame(
        _ track: TrackID, of slot: Int, on route: LoopbackRoute
    ) {
        let now = timeline.now
        if let last = route.asked[track], now - last < Self.keyFrameInterval { return }
        route.asked[track] = now
        guard let delay = route.link?.impairment.delay, delay > .zero else {
            return keyFrameNeeded(track, of: slot)
        }
        deferred.note(after: delay, .keyFrameNeeded(track, slot: slot))
    }

    mutating func requestKeyFrame(_ track: TrackID, of user: UserID, by slot: Int) {
        guard let sender = self.slot(of: user),
            let route = places[sender]?.routes.first(where: { $0.slot == slot }), !route.isCut
        else { return }
        askForKeyFrame(track, of: sender, on: route)
    }

    mutating func keyFrameNeeded(_ track: TrackID, of slot: Int) {
        guard let place = places[slot], let index = place.place(of: track) else { return }
        put(.feedback(place.tracks[index].feedback, .keyFrameNeeded), before: place.member)
    }
}
