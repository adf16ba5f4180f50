internal import BridgeEngine
internal import FoundationEssentials
internal import MediaBasics
internal import Synchronization

// Connecting and reconnecting.
extension JanusMember {
    private var limits: JanusSession.Limits {
        var limits = JanusSession.Limits()
        limits.socket.connecting = configuration.connectTimeout
        limits.socket.silence = configuration.silenceTimeout
        limits.request = configuration.requestTimeout
        limits.keepAlive = min(configuration.sessionTimeout / 3, .seconds(25))
        return limits
    }

    /// Opens a session and joins the room.
    func connect() async throws(EngineError) {
        let tokens = credentials.tokens
        do throws(JanusFailure) {
            sessionNumber += 1
            let number = sessionNumber
            let session = try await JanusSession.open(
                address, caFile: configuration.caFile, token: tokens.server, limits,
                onEvent: makeEventHandler(number))
            guard phase != .over else {
                session.close()
                throw JanusFailure(.cancelled, "the channel was left")
            }
            opening = session
            defer { opening = nil }
            await endLastSession(session)
            lastSession = session.id
            let handle = try await JanusHandle.attach(to: session)
            guard phase != .over else { throw JanusFailure(.cancelled, "the channel was left") }
            (live, opening) = (Live(session: session, handle: handle, number: number), nil)
            try await enter(handle)
            if let failure = session.failure { throw failure }
        } catch {
            live?.session.close()
            live = nil
            throw error.error(for: request, tokens: tokens)
        }
    }

    /// Ends this user's previous session if the server still has it. The server may not have
    /// noticed that the connection is lost, and would refuse the user's ID as taken.
    private func endLastSession(_ session: JanusSession) async {
        guard let last = lastSession else { return }
        do {
            _ = try await session.request(["janus": "claim", "session_id": .number(last)])
            _ = try await session.request(["janus": "destroy", "session_id": .number(last)])
        } catch {
            // Usually the server has already ended that session.
        }
    }

    private func enter(_ handle: JanusHandle) async throws(JanusFailure) {
        let body = credentials.joining(as: FeedID(user: request.userID, track: .main))
        do throws(JanusFailure) {
            _ = try await handle.request(body)
        } catch {
            guard error.code == JanusFailure.noSuchRoom, let creation = configuration.roomCreation
            else { throw error }
            do throws(JanusFailure) {
                _ = try await handle.request(credentials.creating(creation))
            } catch {
                // If the room exists, another client has created it in the meantime.
                guard error.code == JanusFailure.roomExists else {
                    throw JanusFailure(.notCreated(error.code), error.message)
                }
            }
            _ = try await handle.request(body)
        }
    }

    // MARK: Interruptions

    /// Handles the end of the session. Publications and subscriptions are kept for the next
    /// session.
    func lost(_ failure: JanusFailure) {
        guard phase == .up else { return }
        phase = .reconnecting
        live = nil
        directory.reset()
        for feed in sending.keys { stopSending(feed) }
        for feed in receiving.keys { stopReceiving(feed) }
        tasks.removeValue(forKey: "token")?.cancel()
        tokenAlarm = nil
        tasks.removeValue(forKey: "missing")?.cancel()
        let cause = failure.error(for: request, tokens: credentials.tokens)
        reportInterruption(1, cause)
        tasks["reconnect"] = Task { await self.reconnect(cause) }
    }

    private func reconnect(_ first: EngineError) async {
        let begin = ContinuousClock.now
        let reconnection = configuration.reconnection
        var (attempt, cause) = (1, first)
        while phase == .reconnecting {
            try? await Task.sleep(for: reconnection.policy.randomDelay(after: attempt - 1))
            guard phase == .reconnecting else { return }
            do throws(EngineError) {
                if let token = try await queue.token(for: .reconnecting) {
                    credentials.setToken(token)
                }
                try await connect()
                guard phase == .reconnecting else { return }
                phase = .up
                waitForMissing()
                return self.begin()
            } catch {
                cause = error
            }
            guard phase == .reconnecting else { return }
            let duration = ContinuousClock.now - begin
            if isFinal(cause, after: duration) { return finish(cause) }
            if let limit = reconnection.timeout, duration >= limit {
                return finish(
                    EngineError(
                        .disconnected,
                        message:
                            "\(request.userID) had no connection to channel \(request.channel) for \(limit)",
                        underlying: cause))
            }
            attempt += 1
            reportInterruption(attempt, cause)
        }
    }

    private func reportInterruption(_ attempt: Int, _ cause: EngineError) {
        isInterruptionReported = true
        notify(.reconnecting(attempt: attempt, cause))
    }

    private func isFinal(_ error: EngineError, after duration: Duration) -> Bool {
        switch error.code {
        case .tokenMissing, .tokenForged, .tokenExpired, .tokenNotForThis, .kicked: true
        // The server may keep this user's old participation until its session times out.
        case .userIDTaken: duration > configuration.sessionTimeout + .seconds(5)
        default: false
        }
    }

    /// Waits for the users that were present before the interruption: their connections may have
    /// been interrupted too.
    private func waitForMissing() {
        let limit = configuration.reconnection.returnTimeout
        tasks["missing"] = Task {
            try? await Task.sleep(for: limit)
            guard !Task.isCancelled else { return }
            self.directory.giveUpMissing()
            self.settle()
        }
    }

    /// Waits for a user whose connection to the server was lost. It is then reported as dropped.
    func waitForLost(_ user: UserID) {
        lost.append((user, .now + configuration.reconnection.returnTimeout))
        guard tasks["lost"] == nil else { return }
        tasks["lost"] = Task {
            while let next = self.lost.first {
                try? await Task.sleep(until: next.until)
                guard !Task.isCancelled else { return }
                self.lost.removeFirst()
                // One that came back and was lost again is waited for from then on.
                guard !self.lost.contains(where: { $0.user == next.user }) else { continue }
                self.directory.giveUp(next.user)
                self.settle()
            }
            self.tasks["lost"] = nil
        }
    }

    // MARK: Tokens

    /// Requests a new token before the current one expires.
    func watchToken() {
        tokenAlarm = nil
        guard let lifetime = credentials.tokens.lifetime(from: Date()) else { return }
        let wait = lifetime - min(lifetime / 5, .seconds(30))
        tokenAlarm = OneShotTimer(after: wait, on: configuration.timeline) { [weak self] in
            self?.note { member in
                guard member.phase == .up else { return }
                member.tasks["token"] = Task { await member.renewToken() }
            }
        }
    }

    private func renewToken() async {
        do throws(EngineError) {
            guard let token = try await queue.token(for: .expiring) else { return }
            guard phase == .up, let live else { return }
            credentials.setToken(token)
            let tokens = credentials.tokens
            live.session.setToken(tokens.server)
            do throws(JanusFailure) { try await live.session.confirm() } catch {
                // The end of the connection is handled elsewhere.
                guard error.code != nil else { return }
                throw error.error(for: request, tokens: tokens)
            }
            guard phase == .up, !Task.isCancelled else { return }
            watchToken()
        } catch {
            finish(error)
        }
    }
}

/// The current token, and the requests that carry it. Thread: any.
final class Credentials: Sendable {
    private struct State {
        var token: String?
        /// The server's number (`private_id`) that links subscriptions to this user.
        var privateID: Int?
    }
    private let request: ChannelRequest
    private let pin: String?
    private let state: Mutex<State>

    init(_ request: ChannelRequest, pin: String?) {
        self.request = request
        self.pin = pin
        state = Mutex(State(token: request.token))
    }

    var tokens: TokenPair { TokenPair(state.withLock { $0.token }) }

    func setToken(_ token: String) { state.withLock { $0.token = token } }
    func setPrivateID(_ number: Int?) { state.withLock { $0.privateID = number } }

    /// Returns the request to join as a participant that may publish.
    func joining(as feed: FeedID) -> [String: JSONValue] {
        var body = joining()
        body["ptype"] = "publisher"
        body["id"] = .string(feed.description)
        // Janus announces a later change of the display name only if the participant joined with
        // one.
        body["display"] = .string(request.userID.name)
        return body
    }

    /// Returns the request to join as a subscriber, without the streams.
    func subscribing() -> [String: JSONValue] {
        var body = joining()
        body["ptype"] = "subscriber"
        if let number = state.withLock({ $0.privateID }) { body["private_id"] = .number(number) }
        return body
    }

    private func joining() -> [String: JSONValue] {
        var body: [String: JSONValue] = ["request": "join", "room": .string(request.channel)]
        if let pin { body["pin"] = .string(pin) }
        if let token = tokens.room { body["token"] = .string(token) }
        return body
    }

    /// Returns the request to create the room. The room gets a random secret that is not stored:
    /// without a secret, every client could change, record, forward and destroy the room.
    func creating(_ creation: JanusTransport.RoomCreation) -> [String: JSONValue] {
        var body: [String: JSONValue] = [
            "request": "create", "room": .string(request.channel), "permanent": false,
            "notify_joining": true, "publishers": .number(max(1, creation.maximumPublishers)),
            "videocodec": "h264,vp8", "audiocodec": "opus", "bitrate": 0,
            "secret": .string("\(UInt64.random(in: 0...(.max)))-\(UInt64.random(in: 0...(.max)))"),
            "lock_record": true,
        ]
        if let key = creation.adminKey { body["admin_key"] = .string(key) }
        if let pin { body["pin"] = .string(pin) }
        if creation.requiresTokens, tokens.room != nil { body["signed_tokens"] = true }
        return body
    }
}
