/// What one set of caps says of its sound, in both vocabularies. Made once for each caps, shared by all
/// frames that have them.
final class AudioFrameLayout: Sendable {
    let info: AudioInfo
    let format: AudioFormat

    /// `nil` for a format that has no name here.
    init?(_ info: AudioInfo) {
        guard let format = AudioFormat(info) else { return nil }
        self.info = info
        self.format = format
    }

    init(_ format: AudioFormat) throws(PipelineError) {
        self.info = try AudioInfo(format)
        self.format = format
    }

    var caps: Caps { info.caps }
}

extension AudioFormat {
    /// The format that raw audio caps describe; `nil` for a sample format that has no name here.
    public init?(_ info: AudioInfo) {
        guard let sampleFormat = AudioSampleFormat(rawValue: info.format) else { return nil }
        self.init(
            sampleFormat, sampleRate: info.rate, channels: info.channels,
            layout: info.isPlanar ? .planar : .interleaved, channelMask: info.channelMask)
    }
}

extension AudioInfo {
    /// GStreamer's description of a format.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for a rate, a number of channels or
    ///   a mask that GStreamer does not take.
    public convenience init(_ format: AudioFormat) throws(PipelineError) {
        try self.init(
            format: format.sampleFormat.rawValue, rate: format.sampleRate,
            channels: format.channels, channelMask: format.channelMask,
            isPlanar: format.layout == .planar)
    }
}
