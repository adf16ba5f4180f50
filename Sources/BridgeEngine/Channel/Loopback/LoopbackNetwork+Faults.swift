internal import Synchronization

// Simulated network faults.
extension LoopbackNetwork {
    /// Sets how frames and units are lost, delayed and reordered from now on; `nil`, the default,
    /// for an unimpaired network.
    public func impair(_ impairment: LoopbackImpairment?) {
        let channels = state.withLock { state in
            state.impairment = impairment
            return Array(state.channels.values)
        }
        for channel in channels { channel.perform { $0.impair(impairment) } }
    }

    /// Sets whether users can join. If not, joining fails as ``EngineError/Code/unreachable``;
    /// users that have joined stay.
    public func setReachable(_ isReachable: Bool) {
        state.withLock { $0.isReachable = isReachable }
    }

    /// Cuts a user's connection: the user gets ``ChannelReceiver/connectionChanged(_:)``, frames
    /// from and to it are lost, and events are held back. The user is removed after ``patience``.
    ///
    /// - Returns: False if there is no such user in the channel.
    @discardableResult
    public func cut(_ user: UserID, inChannel name: String) -> Bool {
        let cause = EngineError(.unreachable, message: "the connection of \(user) was cut")
        return perform(on: user, inChannel: name) { $0.cut($1, because: cause) } != nil
    }

    /// Restores a user's connection. A network that verifies tokens requests one first.
    ///
    /// - Returns: False if there is no such user in the channel.
    @discardableResult
    public func heal(_ user: UserID, inChannel name: String) -> Bool {
        guard let (channel, slot, member) = find(user, inChannel: name) else { return false }
        let request = ChannelRequest(channel: name, userID: user)
        guard let verifier = verifier(of: request) else {
            channel.perform { $0.heal(slot) }
            return true
        }
        let original = member.request
        Task { [weak channel] in
            do throws(EngineError) {
                var fresh = original
                fresh.token = try await member.token(for: .reconnecting) ?? original.token
                _ = try verifier(fresh)
                channel?.perform { $0.heal(slot) }
            } catch {
                guard let channel else { return }
                self.change(channel, named: name) { $0.expel(slot, error, reason: .dropped) }
            }
        }
        return true
    }

    /// Removes a user. The last event of the user is ``EngineError/Code/kicked``; the other users
    /// get ``OfflineReason/kicked``.
    ///
    /// - Returns: False if there is no such user in the channel.
    @discardableResult
    public func kick(_ user: UserID, fromChannel name: String) -> Bool {
        guard let (channel, slot, _) = find(user, inChannel: name) else { return false }
        let error = EngineError(.kicked, message: "\(user) was removed from channel \(name)")
        change(channel, named: name) { $0.expel(slot, error, reason: .kicked) }
        return true
    }

    private func find(
        _ user: UserID, inChannel name: String
    ) -> (LoopbackChannel, Int, LoopbackMember)? {
        guard let channel = state.withLock({ $0.channels[name] }) else { return nil }
        let found = channel.perform { roster in
            roster.slot(of: user).flatMap { slot in
                roster.places[slot].map { (slot, $0.member) }
            }
        }
        return found.map { (channel, $0.0, $0.1) }
    }

    private func perform(
        on user: UserID, inChannel name: String, _ body: (inout LoopbackRoster, Int) -> Void
    ) -> Void? {
        guard let (channel, slot, _) = find(user, inChannel: name) else { return nil }
        return channel.perform { body(&$0, slot) }
    }

    /// Requests another token before the current one expires, and removes a user without a valid
    /// token.
    func watchToken(
        of request: ChannelRequest, validFor lifetime: Duration?, _ member: LoopbackMember,
        in channel: LoopbackChannel, at slot: Int
    ) {
        guard let lifetime else { return }
        let verifier = verifier(of: request)
        let early = min(lifetime / 5, .seconds(30))
        // The token expires too soon for a request in advance, so the check runs after it has
        // expired.
        let wait = early < .milliseconds(20) ? lifetime + .milliseconds(5) : lifetime - early
        channel.after(wait) { [weak self, weak member] channel in
            Task { [weak self, weak member, weak channel] in
                guard let self, let member, let channel else { return }
                var fresh = request
                do throws(EngineError) {
                    fresh.token = try await member.token(for: .expiring) ?? request.token
                    let validity = try verifier?(fresh)
                    self.watchToken(
                        of: fresh, validFor: validity, member, in: channel, at: slot)
                } catch {
                    self.change(channel, named: request.channel) {
                        $0.expel(slot, error, reason: .dropped)
                    }
                }
            }
        }
    }
}
