package import MediaCore

/// The publication of one video track in a channel.
///
/// Thread: any; one call of ``send(_:)-(VideoFrame)`` or ``send(_:)-(EncodedVideoFrame)`` at a time.
package protocol VideoPublication: AnyObject, Sendable {
    /// The codecs whose units the channel carries unchanged. A stream in any other form is sent as
    /// pictures. Default: none. ``PublicationFeedback/codecsChanged()`` reports a change.
    var codecs: Set<VideoCodec> { get }

    /// Whether the channel carries unencoded pictures, as only a channel within a process does;
    /// otherwise they are encoded before they are sent. Default true.
    var carriesFrames: Bool { get }

    /// Whether the channel carries units whose display order differs from their decoding order
    /// (B-frames); otherwise their pictures are encoded again. Default false: RTP has no decoding
    /// times.
    var carriesReorderedUnits: Bool { get }

    /// Sends one video frame to all users that want the track. Never blocks and copies no pixels.
    /// Frames carry ``LiveTiming``, so that receivers on the same clock render in sync.
    ///
    /// - Returns: Accepted if the frame was sent, regardless of its receivers;
    ///   ``DropCause/muted``; ``DropCause/notStarted`` after ``end()``; ``DropCause/closed`` after
    ///   leaving the channel.
    @discardableResult
    func send(_ frame: consuming VideoFrame) -> FrameDisposition

    /// Sends one encoded unit of a codec in ``codecs``, in decoding order; otherwise like
    /// ``send(_:)-(VideoFrame)``.
    @discardableResult
    func send(_ unit: EncodedVideoFrame) -> FrameDisposition

    /// Mutes the track, or sends it again. The other users are notified, and nothing is sent while
    /// the track is muted. After that, units begin with a key frame.
    func setMuted(_ isMuted: Bool)

    /// Announces the end of the track, after its last frame. A second call does nothing.
    func end()
}

extension VideoPublication {
    /// True.
    package var carriesFrames: Bool { true }
    /// False.
    package var carriesReorderedUnits: Bool { false }
    /// None.
    package var codecs: Set<VideoCodec> { [] }
    /// Drops the unit.
    ///
    /// - Returns: ``FrameDisposition/notEnabled``.
    @discardableResult
    package func send(_ unit: EncodedVideoFrame) -> FrameDisposition { .notEnabled }
    /// Does nothing.
    package func setMuted(_ isMuted: Bool) {}
}

/// Receives the channel's requests to the publisher of a track. Called one at a time, in order with
/// the callbacks of the ``ChannelReceiver``; must return quickly.
package protocol PublicationFeedback: AnyObject, Sendable {
    /// Called when a receiver needs a key frame because it has just joined or has lost a unit.
    /// Called again if no key frame has arrived after a while.
    func keyFrameNeeded()
    /// Called when the limit of the receivers and the network changes. Initially there is none.
    func limitChanged(_ limit: VideoLimit)
    /// Called when ``VideoPublication/codecs`` has changed because a receiver refused a codec. The
    /// following frames must be in one of these codecs.
    ///
    /// - Returns: Whether the publisher can send one of them.
    func codecsChanged() -> Bool
    /// Called with each state of the publication, including the first.
    func stateChanged(_ state: PublicationState)
}

extension PublicationFeedback {
    // Defaults for publishers that cannot change what they send.
    /// Does nothing.
    package func keyFrameNeeded() {}
    /// Does nothing.
    package func limitChanged(_ limit: VideoLimit) {}
    /// Does nothing.
    ///
    /// - Returns: False.
    package func codecsChanged() -> Bool { false }
    /// Does nothing.
    package func stateChanged(_ state: PublicationState) {}
}

// MARK: Audio

/// The publication of a user's audio in a channel.
///
/// Thread: any; one call of ``send(_:)-(AudioFrame)`` or ``send(_:)-(EncodedAudioFrame)`` at a time.
package protocol AudioPublication: AnyObject, Sendable {
    /// The codecs whose units the channel carries unchanged. Default: none.
    var codecs: Set<AudioCodec> { get }

    /// Whether the channel carries unencoded samples, as only a channel within a process does;
    /// otherwise they are encoded before they are sent. Default true.
    var carriesFrames: Bool { get }

    /// The fraction of packets that receivers have lost recently, from 0 to 1, as far as an
    /// encoder's redundancy can help them. Read for each frame. Default 0.
    var lossOfReceivers: Double { get }

    /// Sends one audio frame to all other users. Never blocks. Frames carry ``LiveTiming``, so that
    /// receivers on the same clock play in sync.
    ///
    /// - Returns: As for ``VideoPublication/send(_:)-(VideoFrame)``.
    @discardableResult
    func send(_ frame: consuming AudioFrame) -> FrameDisposition

    /// Sends one encoded unit of a codec in ``codecs``, in timestamp order; otherwise like
    /// ``send(_:)-(AudioFrame)``.
    @discardableResult
    func send(_ unit: EncodedAudioFrame) -> FrameDisposition

    /// Mutes the audio, or sends it again. The other users are notified, and nothing is sent while
    /// the audio is muted.
    func setMuted(_ isMuted: Bool)

    /// Announces the end of the audio, after its last frame. A second call does nothing.
    func end()
}

extension AudioPublication {
    /// None.
    package var codecs: Set<AudioCodec> { [] }
    /// True.
    package var carriesFrames: Bool { true }
    /// Zero.
    package var lossOfReceivers: Double { 0 }
    /// Drops the unit.
    ///
    /// - Returns: ``FrameDisposition/notEnabled``.
    @discardableResult
    package func send(_ unit: EncodedAudioFrame) -> FrameDisposition { .notEnabled }
    /// Does nothing.
    package func setMuted(_ isMuted: Bool) {}
}

/// The publication in a channel that carries no audio.
final class NoAudioPublication: AudioPublication {
    func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }
    func end() {}
}
