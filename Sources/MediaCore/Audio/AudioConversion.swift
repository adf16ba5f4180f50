/// The audio format that a receiver asks for; a property that is `nil` keeps the frame's value.
public struct AudioConversion: Equatable, Sendable {
    /// The sample format; `nil` to keep the frame's.
    public var sampleFormat: AudioSampleFormat?
    /// The sample rate in Hz; `nil` to keep the frame's.
    public var sampleRate: Int?
    /// The number of channels; `nil` to keep the frame's channels and their positions. More
    /// channels are mixed down to fewer, and fewer are spread to more.
    public var channels: Int?
    /// Whether each channel has a plane (``AudioFormat/isPlanar``); `nil` to keep the frame's planes.
    public var isPlanar: Bool?

    /// Creates a request; a parameter that is `nil` keeps the frame's value.
    public init(
        sampleFormat: AudioSampleFormat? = nil, sampleRate: Int? = nil, channels: Int? = nil,
        isPlanar: Bool? = nil
    ) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
        self.isPlanar = isPlanar
    }

    /// Creates a request for exactly the sample format, rate, channel count and planes of `format`.
    package init(to format: AudioFormat) {
        self.init(
            sampleFormat: format.sampleFormat, sampleRate: format.sampleRate,
            channels: format.channels, isPlanar: format.isPlanar)
    }

    /// Returns the format that audio of `format` has after the conversion.
    package func applied(to format: AudioFormat) -> AudioFormat {
        AudioFormat(
            sampleFormat ?? format.sampleFormat, sampleRate: sampleRate ?? format.sampleRate,
            channels: channels ?? format.channels, isPlanar: isPlanar ?? format.isPlanar,
            channelMask: channels == nil || channels == format.channels
                ? format.channelMask : nil)
    }

    /// Returns whether audio of `format` must be converted.
    package func changes(_ format: AudioFormat) -> Bool { applied(to: format) != format }
}

/// Converts audio to the format that a receiver asked for. Thread: any; concurrent calls wait for
/// each other.
///
/// Use one converter for each stream: a resampler keeps the end of the previous frame.
package protocol AudioConverter: Sendable {
    /// Returns the frame with converted samples, or the frame itself if there is nothing to
    /// convert.
    ///
    /// A resampler holds back a few samples, so a frame may yield fewer or more samples than the
    /// ratio of the rates; the running time of the result says when its samples are due.
    ///
    /// - Returns: `nil` if no samples are available yet.
    /// - Throws: If this frame cannot be converted; a later one may succeed.
    func convert(_ frame: AudioFrame, to target: AudioConversion) throws -> AudioFrame?
}
