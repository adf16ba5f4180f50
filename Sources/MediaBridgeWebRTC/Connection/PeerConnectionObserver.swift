public import BridgeEngine
public import MediaCore

/// Receives the events and media of a connection. States and requests are delivered one at a time,
/// in order. So are the frames of each stream, on separate threads. All methods must return
/// quickly.
public protocol PeerConnectionObserver: AnyObject, Sendable {
    /// Called with each new state. ``PeerConnection/State/failed(_:)`` and
    /// ``PeerConnection/State/closed`` are final.
    func stateChanged(_ state: PeerConnection.State)
    /// Called with each local candidate.
    func found(_ candidate: PeerConnection.Candidate)
    /// Called with each encoded video frame (access unit), in decoding order, with timestamps of
    /// the shared clock (`LiveTiming`). The first frame is a keyframe, and so is the first frame
    /// after a loss.
    func receive(_ unit: EncodedVideoFrame)
    /// Called with each encoded audio frame.
    func receive(_ unit: EncodedAudioFrame)
    /// Called when the peer needs a keyframe, at most four times a second. Requests are never lost.
    func keyFrameNeeded()
    /// Called when the capacity of the network has changed.
    func limitChanged(_ limit: VideoLimit)
    /// Called with each message of the peer.
    func receive(_ message: ChannelMessage)
    /// Called when messages can be sent.
    func messagesOpened()
}

extension PeerConnectionObserver {
    /// Does nothing.
    public func found(_ candidate: PeerConnection.Candidate) {}
    /// Discards the frame.
    public func receive(_ unit: EncodedVideoFrame) {}
    /// Discards the frame.
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
