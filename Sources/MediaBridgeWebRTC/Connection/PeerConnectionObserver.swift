public import BridgeEngine
public import MediaCore

/// Receives what a connection gives. States and requests are called one at a time, in order; so are the
/// units of each stream, on threads of their own. All must return quickly.
public protocol PeerConnectionObserver: AnyObject, Sendable {
    /// Called with each new state. None follows ``PeerConnection/State/failed(_:)`` or
    /// ``PeerConnection/State/closed``.
    func stateChanged(_ state: PeerConnection.State)
    /// Called with each candidate of this side.
    func found(_ candidate: PeerConnection.Candidate)
    /// Called with each unit of video, in the order of decoding, with times of the shared clock
    /// (`LiveTiming`). The first is a key frame, and so is the first one after a loss.
    func receive(_ unit: EncodedVideoFrame)
    /// Called with each unit of audio.
    func receive(_ unit: EncodedAudioFrame)
    /// Called when the peer needs a key frame: at most four times a second, and never lost.
    func keyFrameNeeded()
    /// Called when what the network can carry has changed.
    func limitChanged(_ limit: VideoLimit)
    /// Called with each message of the peer.
    func receive(_ message: ChannelMessage)
    /// Called when messages can be sent.
    func messagesOpened()
}

extension PeerConnectionObserver {
    /// Does nothing.
    public func found(_ candidate: PeerConnection.Candidate) {}
    /// Discards the unit.
    public func receive(_ unit: EncodedVideoFrame) {}
    /// Discards the unit.
    public func receive(_ unit: EncodedAudioFrame) {}
    /// Does nothing.
    public func keyFrameNeeded() {}
    /// Does nothing.
    public func limitChanged(_ limit: VideoLimit) {}
    /// Discards the message.
    public func receive(_ message: ChannelMessage) {}
    /// Does nothing.
    public func messagesOpened() {}
}
