/// The audio format of one set of caps, as GStreamer's and as MediaCore's type. Created once for
/// each caps, and shared by all frames that have them.
final class AudioFrameLayout: Sendable {
    let info: AudioInfo
    let format: AudioFormat

    /// Returns `nil` for a sample format that ``AudioSampleFormat`` does not have.
    init?(_ info: AudioInfo) {
        guard let format = AudioFormat(info) else { return nil }
        self.info = info
        self.format = format
    }

    private init(_ format: AudioFormat) throws(PipelineError) {
        self.info = try AudioInfo(format)
        self.format = format
    }

    /// Returns the layout that GStreamer gives to a format.
    ///
    /// - Throws: ``PipelineError`` for a format that GStreamer does not accept.
    static func of(_ format: AudioFormat) throws(PipelineError) -> AudioFrameLayout {
        try recent.value(for: format)
    }

    private static let recent = RecentlyMade<AudioFormat, AudioFrameLayout> {
        format throws(PipelineError) in try AudioFrameLayout(format)
    }

    var caps: Caps { info.caps }
}

extension AudioFormat {
    /// Creates the format that raw audio caps describe; `nil` for a sample format that
    /// ``AudioSampleFormat`` does not have.
    init?(_ info: AudioInfo) {
        guard let sampleFormat = AudioSampleFormat(rawValue: info.format) else { return nil }
        self.init(
            sampleFormat, sampleRate: info.rate, channels: info.channels,
            layout: info.isPlanar ? .planar : .interleaved, channelMask: info.channelMask)
    }
}

extension AudioInfo {
    /// Creates GStreamer's description of a format.
    ///
    /// - Throws: ``PipelineError`` with ``PipelineError/Code/badValue`` for a rate, a number of
    ///   channels or a channel mask that GStreamer does not accept.
    convenience init(_ format: AudioFormat) throws(PipelineError) {
        try self.init(
            format: format.sampleFormat.rawValue, rate: format.sampleRate,
            channels: format.channels, channelMask: format.channelMask,
            isPlanar: format.layout == .planar)
    }
}
