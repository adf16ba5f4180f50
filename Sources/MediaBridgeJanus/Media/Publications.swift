internal import BridgeEngine
internal import MediaCore

/// The publication of a track in a room.
final class JanusVideoPublication: VideoPublication {
    private let media: OutgoingMedia
    /// `nil` if the track was published already.
    private let number: Int?

    init(_ media: OutgoingMedia, _ number: Int?) {
        self.media = media
        self.number = number
    }

    var codecs: Set<VideoCodec> { media.videoCodecs }
    var carriesFrames: Bool { false }

    func send(_ frame: consuming VideoFrame) -> FrameDisposition { .notEnabled }

    func send(_ unit: EncodedVideoFrame) -> FrameDisposition {
        media.send(unit, number ?? 0)
    }

    func setMuted(_ isMuted: Bool) {
        if let number { media.muteVideo(isMuted, number) }
    }

    func end() {
        if let number { media.endVideo(number) }
    }
}

/// The publication of a user's audio in a room.
final class JanusAudioPublication: AudioPublication {
    private let media: OutgoingMedia
    /// `nil` if the audio was published already.
    private let number: Int?

    init(_ media: OutgoingMedia, _ number: Int?) {
        self.media = media
        self.number = number
    }

    var codecs: Set<AudioCodec> { [.opus] }
    var carriesFrames: Bool { false }
    var lossOfReceivers: Double { media.soundLoss }

    func send(_ frame: consuming AudioFrame) -> FrameDisposition { .notEnabled }

    func send(_ unit: EncodedAudioFrame) -> FrameDisposition {
        media.send(unit, number ?? 0)
    }

    func setMuted(_ isMuted: Bool) {
        if let number { media.muteAudio(isMuted, number) }
    }

    func end() {
        if let number { media.endAudio(number) }
    }
}
