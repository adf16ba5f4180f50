/// A source of audio: a microphone, a file, a test tone, or a class of the program.
///
/// ```swift
/// import Foundation
///
/// /// Delivers two seconds of silence, in blocks of ten milliseconds.
/// final class Silence: AudioSource {
///     var consumer: (any AudioFrameConsumer)?
///     func needsPacing() -> Bool { true }  // the engine waits for each timestamp
///     func shouldStart() throws {
///         let format = AudioFormat(.s16le, sampleRate: 48_000, channels: 1)
///         let silence = try AudioFrame(silence: format, sampleCount: 480, runningTime: .zero)
///         Thread.detachNewThread { [consumer] in
///             for number: Int64 in 0..<200 {
///                 var frame = silence
///                 frame.runningTime = MediaTime(value: number, timescale: 100)
///                 consumer?.consume(frame)
///             }
///             consumer?.sourceDidEnd()
///         }
///     }
///     func shouldStop() {}  // later frames are dropped and counted
/// }
/// try await engine.setAudioSource(Silence())
/// ```
///
/// The order of calls is query (``needsPacing()``, ``timeBase()``), initialise, start, stop, dispose.
/// Start and stop may repeat, and so may initialise and dispose. All calls come from one caller,
/// never overlap and are never made on the main thread, so a conforming class need not be Sendable.
///
/// The counterpart of ``VideoSource``.
public protocol AudioSource: MediaEndpoint {
    /// The consumer to which frames are delivered. Set before ``MediaEndpoint/shouldInitialize()`` is called;
    /// `nil` after ``MediaEndpoint/shouldDispose()``.
    var consumer: (any AudioFrameConsumer)? { get set }

    /// Returns whether the engine holds each frame without ``LiveTiming`` until it is due, because the source
    /// delivers as fast as its consumer allows, as a file does. Called once. Default false: the source
    /// delivers frames as they occur, as a camera does.
    func needsPacing() -> Bool

    /// Returns the time base that this audio shares with a video source. Called once. Default
    /// `nil`: none.
    func timeBase() -> MediaTimeBase?
}

extension AudioSource {
    public func needsPacing() -> Bool { false }
    public func timeBase() -> MediaTimeBase? { nil }
}

// MARK: Consumer

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
        guard samples > 0 else { return .dropped(.badSize) }
        guard format.isValid else { return .dropped(.badFormat) }
        guard samples <= Int.max / format.byteCount(sampleCount: 1) else {
            return .dropped(.badSize)
        }
        let bytes = UnsafeRawBufferPointer(
            start: rawData, count: format.byteCount(sampleCount: samples))
        guard let storage = try? MemoryAudioStorage(copying: bytes, format: format) else {
            return .dropped(.failed)
        }
        return consume(AudioFrame(storage, runningTime: time))
    }

    public func sourceDidEnd() {}
    public func sourceDidFail(_ error: any Error) {}
}

// MARK: Sink

/// A receiver of audio: speakers, a file, an encoder, or a class of the program.
///
/// ```swift
/// /// Prints the format and the time of each block of audio.
/// final class Listener: AudioSink {
///     func audioFormat() -> AudioConversion { AudioConversion(sampleRate: 48_000, channels: 2) }
///     func render(_ frame: AudioFrame) throws { print(frame) }
/// }
/// try await engine.addAudioSink(Listener(), to: .local)
/// ```
///
/// The order of calls is query (``audioFormat()``), initialise, start, render …, stop, dispose.
/// Start and stop may repeat, and so may initialise and dispose. All calls come from one caller,
/// never overlap and are never made on the main thread, so a conforming class need not be Sendable.
/// All methods except ``render(_:)`` have default implementations.
///
/// The counterpart of ``VideoSink``.
public protocol AudioSink: MediaEndpoint {
    /// Returns the format that this sink asks for. Called once, before the other methods. Default:
    /// frames are delivered unconverted.
    func audioFormat() -> AudioConversion

    /// Renders one frame, which has its own format and time. The frame may be kept; it stays valid.
    func render(_ frame: AudioFrame) throws
}

extension AudioSink {
    public func audioFormat() -> AudioConversion { AudioConversion() }
    public func shouldStart() throws {}
    public func shouldStop() throws {}
}

// MARK: Processor

/// Processes audio between a source and its receivers: reads a frame, changes it in place, or
/// replaces it.
///
/// ```swift
/// /// Halves the volume of 16-bit audio.
/// struct Quiet: AudioProcessor {
///     func process(_ frame: consuming AudioFrame) throws -> AudioFrame? {
///         try frame.withMutableSamples(as: Int16.self) { samples in
///             for index in samples.indices { samples[index] /= 2 }
///         }
///         return frame
///     }
/// }
/// plan.audioProcessors = [Quiet()]
/// ```
///
/// Called for one frame at a time, in the order of the frames, so it need not be Sendable. The
/// counterpart of ``VideoProcessor``.
public protocol AudioProcessor {
    /// Processes one frame.
    ///
    /// - Returns: The frame to pass on; `nil` drops the frame, which is counted.
    /// - Throws: Any error; the frame is dropped, and the error is reported.
    func process(_ frame: consuming AudioFrame) throws -> AudioFrame?
}
