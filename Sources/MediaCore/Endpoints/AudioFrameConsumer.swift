/// What a source of sound delivers to. The engine makes one for each source; a class may be one too, to
/// receive what a source delivers without an engine.
///
/// Thread: any, but one at a time; a call returns at once where the stream is live, and where it is a
/// file it may block for as long as the slowest receiver needs.
public protocol AudioFrameConsumer: AnyObject, Sendable {
    /// Takes a frame, or says why not.
    @discardableResult
    func consume(_ frame: consuming AudioFrame) -> FrameDisposition

    /// The source has nothing more to deliver: the end of a file.
    func sourceDidEnd()

    /// The source cannot go on.
    func sourceDidFail(_ error: any Error)
}

extension AudioFrameConsumer {
    /// Copies interleaved samples that lie in memory, or says why not.
    ///
    /// - Parameters:
    ///   - samples: Samples of each channel; `rawData` must reach over all of them.
    ///   - time: When the first was taken; running time is best.
    @discardableResult
    public func consumeRawData(
        _ rawData: UnsafeRawPointer, samples: Int, withTimestamp time: MediaTime,
        format: AudioFormat
    ) -> FrameDisposition {
        guard samples > 0 else { return .badSize }
        guard format.isValid else { return .badFormat }
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
