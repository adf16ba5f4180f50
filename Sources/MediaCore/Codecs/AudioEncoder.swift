/// What an encoder makes of a live stream of audio.
public struct AudioEncoderSettings: Hashable, Sendable {
    /// The codec of the units.
    public var codec: EncodedAudioFrame.Codec
    /// The bit rate, in bits per second. A codec with a fixed rate ignores it.
    public var bitRate: Int

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - codec: The codec of the units.
    ///   - bitRate: The bit rate, in bits per second. Default 64,000: speech and music in stereo, with
    ///     Opus.
    public init(_ codec: EncodedAudioFrame.Codec, bitRate: Int = 64_000) {
        self.codec = codec
        self.bitRate = bitRate
    }
}

/// Encodes the frames of one live stream, on the caller's thread.
///
/// Thread: any, one call at a time. A call takes a fraction of the time that its samples last.
public protocol AudioEncoder: Sendable {
    /// Encodes the samples of a frame. Silence is encoded for samples that are missing before it, and samples
    /// that were there before are left out (``AudioContinuity``); a time that is further away begins anew.
    ///
    /// - Returns: The units that are complete, each with the time of its first sample: none while too few
    ///   samples wait, several of a long frame.
    /// - Throws: If the frame has no time or cannot be encoded; the next one may be.
    func encode(_ frame: AudioFrame) throws -> [EncodedAudioFrame]

    /// Encodes the samples that wait, with silence up to the end of the unit. The encoder is at its end
    /// then.
    func finish() throws -> [EncodedAudioFrame]

    /// Changes the bit rate from the next frame on, in bits per second.
    func setBitRate(_ bitRate: Int)

    /// Says what share of the units will be lost, from 0 to 1; zero at first. A codec that can puts a second, coarse
    /// copy of each unit's sound into the next one, within the bit rate.
    func expectLoss(of share: Double)
}

extension AudioEncoder {
    /// Does nothing.
    public func expectLoss(of share: Double) {}
}
