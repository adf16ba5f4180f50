/// The settings of an encoder for a live audio stream.
package struct AudioEncoderSettings: Hashable, Sendable {
    /// The codec of the units.
    package var codec: AudioCodec
    /// The bit rate, in bits per second. A codec with a fixed rate ignores it.
    package var bitRate: Int

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - codec: The codec of the units.
    ///   - bitRate: The bit rate, in bits per second. Default 64,000: speech and music in stereo, with
    ///     Opus.
    package init(_ codec: AudioCodec, bitRate: Int = 64_000) {
        self.codec = codec
        self.bitRate = bitRate
    }
}

/// Encodes the frames of one live stream, on the caller's thread.
///
/// Thread: any, one call at a time. A call takes a fraction of the time that its samples last.
package protocol AudioEncoder: Sendable {
    /// Encodes the samples of a frame. Samples that are missing before it are encoded as silence,
    /// and samples that overlap the previous frame are dropped (``AudioContinuity``). A larger time
    /// difference restarts the stream.
    ///
    /// - Returns: The completed units, each with the time of its first sample: none while too few
    ///   samples wait, several for a long frame.
    /// - Throws: If the frame has no time or cannot be encoded; encoding the next frame may
    ///   succeed.
    func encode(_ frame: AudioFrame) throws -> [EncodedAudioFrame]

    /// Encodes the waiting samples, padded with silence to the end of the unit. This ends the
    /// encoder.
    func finish() throws -> [EncodedAudioFrame]

    /// Changes the bit rate from the next frame on, in bits per second.
    func setBitRate(_ bitRate: Int)

    /// Sets the expected fraction of lost units, from 0 to 1; zero at first. A codec that supports
    /// it puts a second, coarse copy of each unit's sound into the next unit, within the bit rate.
    func expectLoss(of share: Double)
}

extension AudioEncoder {
    /// Does nothing.
    package func expectLoss(of share: Double) {}
}

/// Decodes the units of one stream of audio, on the caller's thread.
///
/// Thread: any, one call at a time. A call takes a fraction of the time that its samples last.
package protocol AudioDecoder: Sendable {
    /// Decodes a unit, in the order of times.
    ///
    /// - Returns: The samples, with the unit's time and live timing. Several frames if units before this
    ///   one are missing and the codec replaces up to 120 ms of them by what might have been there; none
    ///   while a codec begins.
    /// - Throws: If the unit cannot be decoded; the next one may be.
    func decode(_ unit: EncodedAudioFrame) throws -> [AudioFrame]

    /// The number of samples, per channel, that replace missing units.
    var concealedSamples: Int { get }
}

extension AudioDecoder {
    /// Zero.
    package var concealedSamples: Int { 0 }
}
