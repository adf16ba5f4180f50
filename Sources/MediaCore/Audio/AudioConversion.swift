/// What a receiver wants of sound; what it leaves open stays as it comes.
public struct AudioConversion: Hashable, Sendable {
    /// `nil` to keep the frame's.
    public var sampleFormat: AudioSampleFormat?
    /// Hz; `nil` to keep the frame's.
    public var sampleRate: Int?
    /// `nil` to keep the frame's, and where they are heard. Sound of more channels is mixed down, of fewer
    /// spread.
    public var channels: Int?
    /// `nil` to keep the frame's.
    public var layout: AudioLayout?

    public init(
        sampleFormat: AudioSampleFormat? = nil, sampleRate: Int? = nil, channels: Int? = nil,
        layout: AudioLayout? = nil
    ) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
        self.layout = layout
    }

    /// Wants one format exactly.
    public init(to format: AudioFormat) {
        self.init(
            sampleFormat: format.sampleFormat, sampleRate: format.sampleRate,
            channels: format.channels, layout: format.layout)
    }

    /// What sound of a format becomes.
    public func applied(to format: AudioFormat) -> AudioFormat {
        AudioFormat(
            sampleFormat ?? format.sampleFormat, sampleRate: sampleRate ?? format.sampleRate,
            channels: channels ?? format.channels, layout: layout ?? format.layout,
            channelMask: channels == nil || channels == format.channels
                ? format.channelMask : nil)
    }

    /// Whether anything is to be done to sound of a format.
    public func changes(_ format: AudioFormat) -> Bool { applied(to: format) != format }
}

/// Turns sound into what a receiver asked for. Thread: any, one caller at a time (others wait).
///
/// One converter serves one stream: what it resamples it remembers the end of.
public protocol AudioConverter: Sendable {
    /// The frame with other samples, and untouched where there is nothing to do.
    ///
    /// A resampler holds back a few samples, so that a frame may give fewer or more than its rate says;
    /// the running time says when they are due.
    ///
    /// - Returns: `nil` where nothing came out yet.
    /// - Throws: Where the sound cannot be converted; the next frame may be.
    func convert(_ frame: AudioFrame, to target: AudioConversion) throws -> AudioFrame?
}
