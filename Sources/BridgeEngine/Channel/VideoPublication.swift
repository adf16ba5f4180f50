public import MediaCore

/// The publication of one video track in a channel.
///
/// Thread: any; one call of ``send(_:)-(VideoFrame)`` or ``send(_:)-(EncodedVideoFrame)`` at a time.
public protocol VideoPublication: AnyObject, Sendable {
    /// The codecs whose units the channel carries as they are. Pictures are sent if a stream comes in
    /// any other form. Default: none. A change is told by ``PublicationFeedback/codecsChanged()``.
    var codecs: Set<EncodedVideoFrame.Codec> { get }

    /// Whether the channel carries pictures as they are, as only one within a process does; otherwise they
    /// are encoded before they are sent. Default true.
    var carriesFrames: Bool { get }

    /// Whether the channel carries units whose pictures are shown in another order than they are decoded
    /// (B-frames); otherwise their pictures are encoded anew. Default false: RTP has no decoding times.
    var carriesReorderedUnits: Bool { get }

    /// Sends one video frame to all who want the track. Never blocks and copies no pixels. Frames carry
    /// ``LiveTiming``, so that receivers on the same clock render in sync.
    ///
    /// - Returns: Accepted if the frame was sent, regardless of who receives it;
    ///   ``DropCause/muted``; ``DropCause/notStarted`` after ``end()``; ``DropCause/closed`` after
    ///   leaving the channel.
    @discardableResult
    func send(_ frame: consuming VideoFrame) -> FrameDisposition

    /// Sends one encoded unit of a codec in ``codecs``, in the order of decoding; otherwise like
    /// ``send(_:)-(VideoFrame)``.
    @discardableResult
    func send(_ unit: EncodedVideoFrame) -> FrameDisposition

    /// Mutes the track, or sends it again: the others learn it, and nothing is sent meanwhile. After
    /// that, units begin with a key frame.
    func setMuted(_ isMuted: Bool)

    /// Announces the end of the track, after its last frame. A second call does nothing.
    func end()
}

extension VideoPublication {
    /// True.
    public var carriesFrames: Bool { true }
    /// False.
    public var carriesReorderedUnits: Bool { false }
    /// None.
    public var codecs: Set<EncodedVideoFrame.Codec> { [] }
    /// Drops the unit.
    ///
    /// - Returns: ``FrameDisposition/notEnabled``.
    @discardableResult
    public func send(_ unit: EncodedVideoFrame) -> FrameDisposition { .notEnabled }
    /// Does nothing.
    public func setMuted(_ isMuted: Bool) {}
}

/// Receives what a channel asks of the publisher of a track. Called one at a time, in order with the
/// callbacks of the ``ChannelReceiver``; must return quickly.
public protocol PublicationFeedback: AnyObject, Sendable {
    /// Called when a receiver needs a key frame: it has just come, or has lost a unit. Called again if
    /// none has arrived after a while.
    func keyFrameNeeded()
    /// Called when what receivers and network can use changes. Nothing is limited at first.
    func limitChanged(_ limit: VideoLimit)
    /// Called when ``VideoPublication/codecs`` are others than before: a receiver has refused one. What follows
    /// is to be in one of these.
    ///
    /// - Returns: Whether the publisher can send one of them.
    func codecsChanged() -> Bool
    /// Called with each state of the publication, beginning with the first.
    func stateChanged(_ state: PublicationState)
}

extension PublicationFeedback {
    // Defaults for publishers that cannot change what they send.
    /// Does nothing.
    public func keyFrameNeeded() {}
    /// Does nothing.
    public func limitChanged(_ limit: VideoLimit) {}
    /// Does nothing.
    ///
    /// - Returns: False.
    public func codecsChanged() -> Bool { false }
    /// Does nothing.
    public func stateChanged(_ state: PublicationState) {}
}
