internal import BridgeEngine
internal import MediaCore

// The delivery of frames and units.
extension LoopbackRoster {
    /// The minimum interval between two requests for a key frame, if none has arrived.
    private static let keyFrameInterval = Duration.milliseconds(500)

    /// Sends media to the members that want it. Audio does not count towards the video depth and
    /// does not evict video. A receiver for which too much audio or too many units of a sender wait gets
    /// no more until it has taken some, and units from a key frame on only.
    mutating func send(
        _ media: ChannelMedia, _ stream: MediaTrackID, from slot: Int
    ) -> FrameDisposition {
        guard let place = places[slot] else { return .dropped(.closed) }
        guard let index = place.place(of: stream) else { return .dropped(.notStarted) }
        guard !place.publications[index].isMuted else { return .dropped(.muted) }
        if stream != .audio { place.member.countSent() }
        for route in place.routes where !route.unwanted.contains(stream) {
            let tally = route.tallies[stream]
            tally.count(.sent)
            if isCut(slot) || isCut(route.slot) {
                tally.count(.dropped(.lost))
            } else if let cause = refusal(of: media, stream, on: route) {
                tally.count(.dropped(cause))
                guard case .unit = media else { continue }
                askForKeyFrame(stream, of: slot, on: route)
            } else {
                self.place(
                    .media(media, stream, tally, from: place.member.user), to: route.member)
            }
        }
        return .accepted
    }

    /// Returns why a receiver does not get the media; `nil` if it does. Keeps track of the references
    /// of units.
    private func refusal(
        of media: ChannelMedia, _ stream: MediaTrackID, on route: LoopbackRoute
    ) -> DropCause? {
        // The media itself is counted already.
        let waiting = route.tallies[stream].frames.waiting - 1
        switch media {
        case .picture: return nil
        case .samples, .audioUnit: return waiting < ReceivedStream.maximumAudio ? nil : .evicted
        case .unit(let unit):
            let cause = route.chains[stream, default: ReferenceChain()]
                .refusal(of: unit.references, waiting: waiting)
            if cause == nil, unit.references == .none { route.requested[stream] = nil }
            return cause
        }
    }

    private mutating func place(_ item: LoopbackItem, to member: LoopbackMember) {
        var whenFull = Mailbox<LoopbackItem>.WhenFull.keep
        if case .media(.picture, _, _, _) = item { whenFull = .evictOldest }
        let placement = member.mailbox.place(item, whenFull: whenFull)
        if placement.verdict == .closed { item.count(.dropped(.closed)) }
        deferred.note(placement, for: member)
    }

    // MARK: Key frames

    /// Requests a key frame from the publisher of a track, unless one was requested just before.
    private mutating func askForKeyFrame(
        _ stream: MediaTrackID, of slot: Int, on route: LoopbackRoute
    ) {
        let now = timeline.now
        if let last = route.requested[stream], now - last < Self.keyFrameInterval { return }
        route.requested[stream] = now
        guard let place = places[slot], let index = place.place(of: stream) else { return }
        notify(place.publications[index], of: place.member) { $0.keyFrameNeeded() }
    }

    mutating func requestKeyFrame(_ track: TrackID, of user: UserID, by slot: Int) {
        guard let sender = self.slot(of: user),
            let route = places[sender]?.routes.first(where: { $0.slot == slot }),
            !isCut(sender), !isCut(slot)
        else { return }
        askForKeyFrame(.video(track), of: sender, on: route)
    }
}
