internal import BridgeEngine
internal import MediaCore

// What goes to a viewer.
extension PeerSession {
    /// Sends a unit, unless it refers to one that the viewer does not have. One call at a time.
    ///
    /// - Returns: Whether the viewer needs a key frame.
    func send(_ unit: EncodedVideoFrame, _ references: EncodedVideoFrameReferences) -> Bool {
        let peer = state.withLock { state -> (any MediaPeer)? in
            guard !state.isOver, state.isConnected else { return nil }
            guard state.chain.admits(references) else {
                state.withheld += 1
                return nil
            }
            return state.peer
        }
        guard let peer else { return state.withLock { $0.isConnected && !$0.isOver } }
        guard !peer.send(unit).isAccepted else { return false }
        _ = state.withLock { $0.chain.lose() }
        return true
    }

    /// What follows begins with a key frame.
    func beginAnew() { state.withLock { $0.chain = ReferenceChain() } }

    /// The counts of units to the viewer, or from the sender.
    func frames() -> (video: ChannelStatistics.Frames, audio: ChannelStatistics.Frames) {
        guard kind == .viewer else { return state.withLock { ($0.video.frames, $0.audio.frames) } }
        let (peer, withheld) = state.withLock { ($0.peer, $0.withheld) }
        let counts = peer?.statistics ?? PeerStatistics()
        return (
            .init(counts.video.units, withheld: withheld, isOver: false),
            .init(counts.audio.units, withheld: 0, isOver: false)
        )
    }

    /// The counts after the end, when nothing waits any more.
    func finalFrames() -> (video: ChannelStatistics.Frames, audio: ChannelStatistics.Frames) {
        var (video, audio) = frames()
        video.closed += max(0, video.waiting)
        audio.closed += max(0, audio.waiting)
        return (video, audio)
    }
}
