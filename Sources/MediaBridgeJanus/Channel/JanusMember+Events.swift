internal import BridgeEngine
internal import MediaBridgeWebRTC

// Events of the server.
extension JanusMember {
    func handle(_ event: JanusSession.Event, _ number: Int) {
        guard let live, live.number == number else { return }
        switch event {
        case .ended(let failure): lost(failure)
        case .message(let message, let handle):
            switch message.janus {
            case "hangup":
                handles[handle]?.send(
                    .hungUp("the Janus server hung up: \(message.reason ?? "no reason given")"))
            case "trickle":
                guard let candidate = message.candidate, let text = candidate.candidate else {
                    return
                }
                handles[handle]?.send(
                    .offered(
                        PeerConnection.Candidate(
                            text, mid: candidate.sdpMid, line: candidate.sdpMLineIndex ?? 0)))
            case "detached" where handle == live.handle.id:
                live.session.end(JanusFailure(.closed, "the Janus server detached the user"))
            case "event" where handle == live.handle.id:
                if let data = message.plugindata?.data { self.handle(data, live) }
            default: break
            }
        }
    }

    /// Handles an event of the room.
    private func handle(_ data: VideoRoomData, _ live: Live) {
        switch data.videoroom {
        case "joined":
            credentials.setPrivateID(data.privateId)
            directory.reset()
            directory.add(data.attendees ?? [])
            directory.add(data.publishers ?? [])
            if isInterruptionTold {
                isInterruptionTold = false
                tell(.connected)
            }
        case "destroyed":
            Task { await self.roomWasDestroyed(live) }
            return
        case "event":
            if data.leaving == "ok", data.reason == "kicked" {
                return finish(
                    EngineError(
                        .kicked,
                        message: "\(request.userID) was removed from channel \(request.channel)"))
            }
            if let id = data.id, let display = data.display { return hear(display, from: id) }
            if let participant = data.joining { directory.add([participant]) }
            directory.add(data.publishers ?? [])
            if let id = data.unpublished, id != "ok" { directory.unpublish(id) }
            if let id = data.leaving, id != "ok" { directory.remove(id) }
            if let id = data.kicked { directory.remove(id, isKicked: true) }
        default: return
        }
        settle()
    }

    /// Ends the membership after Janus has finished destroying the room. After this event Janus
    /// closes the handles of all members, and crashes if one of them is already gone. It holds the
    /// lock of the rooms meanwhile, and `exists` waits for that lock (janus_videoroom.c,
    /// `destroy`).
    private func roomWasDestroyed(_ live: Live) async {
        _ = try? await live.handle.request([
            "request": "exists", "room": .string(request.channel),
        ])
        finish(
            EngineError(
                .disconnected, message: "channel \(request.channel) was closed on the server"))
    }

    /// Handles a notice that a user sends through its display name.
    private func hear(_ display: String, from id: String) {
        let feed = FeedID(id)
        guard feed.track == .main, feed.user != request.userID, directory.contains(feed.user),
            let notice = Notice(display)
        else { return }
        switch notice {
        case .goodbye: directory.note(departing: feed.user)
        case .message(let message, let user, let stamp):
            if let last = lastStamps[feed.user], last.sender == stamp.sender,
                last.number >= stamp.number
            {
                return
            }
            lastStamps[feed.user] = stamp
            guard user == nil || user == request.userID else { return }
            post { $0.receive(message, from: feed.user) }
        }
    }

    /// Reports the changes in the room to the receiver.
    func settle() {
        for change in directory.settle() { tell(change) }
        updateReceiving()
    }

    private func tell(_ change: Directory.Change) {
        switch change {
        case .joined(let user):
            _ = ledger.user(user)
            post { $0.userJoined(user) }
        case .left(let user, let reason):
            for id in streams.keys where id.user == user { close(id) }
            lastStamps[user] = nil
            ledger.forget(user)
            post { $0.userLeft(user, reason: reason) }
        case .published(let track, let user):
            open(StreamID(user: user, track: track))
            post { $0.trackPublished(track, by: user) }
        case .unpublished(let track, let user):
            close(StreamID(user: user, track: track))
            post { $0.trackUnpublished(track, by: user) }
        case .muted(let isMuted, let track, let user):
            streams[StreamID(user: user, track: track)]?.setMuted(isMuted)
            post { $0.trackMuted(isMuted, track, by: user) }
        case .audioPublished(let user):
            open(StreamID(user: user, track: nil))
            post { $0.audioPublished(by: user) }
        case .audioUnpublished(let user):
            close(StreamID(user: user, track: nil))
            post { $0.audioUnpublished(by: user) }
        case .audioMuted(let isMuted, let user):
            streams[StreamID(user: user, track: nil)]?.setMuted(isMuted)
            post { $0.audioMuted(isMuted, by: user) }
        }
    }

    private func open(_ id: StreamID) {
        let counts = ledger.user(id.user)
        streams[id] = IncomingStream(
            id.track ?? .main, of: id.user, id.track == nil ? counts.audio : counts.video,
            to: inbox)
    }

    /// Closes a stream. Its frames that are still in flight are discarded.
    private func close(_ id: StreamID) { streams.removeValue(forKey: id)?.close() }

    func tell(_ connection: ChannelConnection) { post { $0.connectionChanged(connection) } }

    private func post(_ body: @escaping @Sendable (any ChannelReceiver) -> Void) {
        guard !inbox.post(body) else { return }
        finish(
            EngineError(
                .disconnected,
                message:
                    "\(request.userID) was removed from the channel: \(Inbox.capacity) events are waiting",
                advice: "return from the receiver's methods without delay"))
    }
}
