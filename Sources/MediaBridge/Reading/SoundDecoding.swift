internal import Synchronization

/// Decodes the units of a stream of audio that is read as frames, on the reader's thread.
///
/// Thread: any, one unit at a time.
final class SoundDecoding: Sendable {
    private let decoder = Mutex<(codec: AudioCodec, decoder: any AudioDecoder)?>(nil)
    private let undecoded: UndecodedUnits

    /// - Parameter undecoded: Counts the units that are damaged.
    init(counting undecoded: UndecodedUnits) { self.undecoded = undecoded }

    /// Forgets an earlier run.
    func reset() { decoder.withLock { $0 = nil } }

    /// Returns the frames of a sample; none for a header, and for a unit that is damaged.
    ///
    /// - Returns: `nil` if the sample is no unit of audio.
    /// - Throws: ``PipelineError`` if no decoder is installed or known.
    func decode(_ sample: MediaSample) throws(PipelineError) -> [AudioFrame]? {
        guard sample.caps.isSound, !sample.isRawAudio else { return nil }
        guard !sample.isHeader else { return [] }
        let unit = EncodedAudioFrame(sample)
        return try decoder.withLock { present throws(PipelineError) -> [AudioFrame] in
            let decoder: any AudioDecoder
            if let present, present.codec == unit.codec {
                decoder = present.decoder
            } else {
                decoder = try ChainAudioDecoder(unit.codec)
                present = (unit.codec, decoder)
            }
            do { return try decoder.decode(unit) } catch {
                undecoded.note(.undecodable)
                return []
            }
        }
    }
}
