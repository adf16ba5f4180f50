public import MediaCore

/// The publication of a user's audio in a channel.
///
/// Thread: any; one call of ``send(_:)-(AudioFrame)`` or ``send(_:)-(EncodedAudioFrame)`` at a time.
public protocol AudioPublication: AnyObject, Sendable {
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
    public var codecs: Set<AudioCodec> { [] }
    /// True.
    public var carriesFrames: Bool { true }
    /// Zero.
    public var lossOfReceivers: Double { 0 }
    /// Drops the unit.
    ///
    /// - Returns: ``FrameDisposition/notEnabled``.
    @discardableResult
    public func send(_ unit: EncodedAudioFrame) -> FrameDisposition { .notEnabled }
    /// Does nothing.
    public func setMuted(_ isMuted: Bool) {}
}

/// The publication in a channel that carries no audio.
final class NoAudioPublication: AudioPublication {
    func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }
    func end() {}
}
