/// Decodes the units of one stream of audio, on the caller's thread.
///
/// Thread: any, one call at a time. A call takes a fraction of the time that its samples last.
public protocol AudioDecoder: Sendable {
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
    public var concealedSamples: Int { 0 }
}
