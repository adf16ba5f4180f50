/// Receives the frames of an audio source. The engine creates one for each source; a class may also
/// conform to receive frames without an engine.
///
/// Thread: any, but one call at a time. A call returns at once for a live stream; for a file it may
/// block for as long as the slowest receiver needs.
public protocol AudioFrameConsumer: AnyObject, Sendable {
    /// Accepts a frame, or returns the reason for dropping it.
    @discardableResult
    func consume(_ frame: consuming AudioFrame) -> FrameDisposition

    /// Called when the source has no more frames, as at the end of a file.
    func sourceDidEnd()

    /// Called when the source has failed and delivers no more frames.
    func sourceDidFail(_ error: any Error)
}

extension AudioFrameConsumer {
    /// Copies samples from memory and delivers them, or returns the reason for dropping them.
    ///
    /// - Parameters:
    ///   - rawData: Samples that are laid out as `format` says, with planes one after the other.
    ///   - samples: The number of samples of each channel; `rawData` must contain all of them.
    ///   - time: When the first sample was captured, preferably in running time.
    ///   - format: The format of the samples.
    @discardableResult
    public func consumeRawData(
        _ rawData: UnsafeRawPointer, samples: Int, withTimestamp time: MediaTime,
        format: AudioFormat
    ) -> FrameDisposition {
        guard samples > 0 else { return .badSize }
        guard format.isValid else { return .badFormat }
        guard samples <= Int.max / format.byteCount(samples: 1) else { return .badSize }
        let bytes = UnsafeRawBufferPointer(
            start: rawData, count: format.byteCount(samples: samples))
        guard let storage = try? MemoryAudioStorage(copying: bytes, format: format) else {
            return .dropped(.failed)
        }
        return consume(AudioFrame(storage, runningTime: time))
    }

    public func sourceDidEnd() {}
    public func sourceDidFail(_ error: any Error) {}
}
