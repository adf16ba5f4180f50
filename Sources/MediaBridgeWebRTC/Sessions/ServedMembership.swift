package import BridgeEngine

/// An engine's membership on a server. It ends when the last reference is released.
package final class ServedMembership: ChannelMembership {
    private let channel: ServedChannel
    private let onLeave: @Sendable (ServedChannel) -> Void

    /// - Parameter onLeave: Called when the engine leaves; the server then serves no engine.
    package init(
        _ channel: ServedChannel, onLeave: @escaping @Sendable (ServedChannel) -> Void
    ) {
        self.channel = channel
        self.onLeave = onLeave
    }

    deinit {
        guard !channel.isOver else { return }
        onLeave(channel)
        let channel = self.channel
        Task.detached { await channel.leave() }
    }

    package func publish(
        _ track: TrackID, feedback: any PublicationFeedback
    ) -> any VideoPublication { channel.publish(track, feedback: feedback) }

    package func publishAudio() -> any AudioPublication { channel.publishAudio() }

    package func setDemand(_ demand: VideoDemand?, _ track: TrackID, of user: UserID) {
        channel.setDemand(demand, track, of: user)
    }

    package func requestKeyFrame(_ track: TrackID, of user: UserID) {
        channel.requestKeyFrame(track, of: user)
    }

    package func send(_ message: ChannelMessage, to user: UserID?) async throws(EngineError) {
        try channel.send(message, to: user)
    }

    package func leave() async {
        onLeave(channel)
        await channel.leave()
    }

    package var statistics: ChannelStatistics { channel.statistics }
}
