/// How the samples of several channels lie in memory.
public enum AudioLayout: Hashable, Sendable {
    /// The samples of one moment side by side, channel after channel: one plane.
    case interleaved
    /// A plane for each channel. GStreamer calls it `non-interleaved`.
    case planar
}

/// What a piece of sound is: its samples, their rate, its channels and where those are heard.
///
/// It belongs to one frame and may change from frame to frame.
public struct AudioFormat: Hashable, Sendable {
    public var sampleFormat: AudioSampleFormat
    /// Samples of each channel in a second (Hz).
    public var sampleRate: Int
    public var channels: Int
    public var layout: AudioLayout
    /// Where the channels are heard: GStreamer's `channel-mask`, a bit for each position in the order of
    /// the channels (front left, front right, front centre, low frequencies, rear left …). Zero for mono
    /// and for channels without a place.
    public var channelMask: UInt64

    /// - Parameters:
    ///   - sampleRate: Hz.
    ///   - channelMask: `nil` for where so many channels are usually heard (``usualMask(channels:)``).
    public init(
        _ sampleFormat: AudioSampleFormat = .s16le, sampleRate: Int, channels: Int,
        layout: AudioLayout = .interleaved, channelMask: UInt64? = nil
    ) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
        self.layout = layout
        self.channelMask = channelMask ?? Self.usualMask(channels: channels)
    }

    /// The most channels that a format may have, as GStreamer has it.
    public static let mostChannels = 64

    /// The highest rate that a format may have, in Hz.
    public static let highestRate = 768_000

    /// Whether rate and channels are within bounds, and as many places are named as there are channels,
    /// or none.
    public var isValid: Bool {
        (1...Self.highestRate).contains(sampleRate)
            && (1...Self.mostChannels).contains(channels)
            && (channelMask == 0 || channelMask.nonzeroBitCount == channels)
    }

    /// Where so many channels are heard unless somebody says otherwise: stereo, quadraphonic, 5.1, 7.1
    /// and the like up to eight channels; zero for mono and for more.
    public static func usualMask(channels: Int) -> UInt64 {
        switch channels {
        case 2: 0x3  // front left and right
        case 3: 0x7  // and centre
        case 4: 0x33  // front and rear
        case 5: 0x37
        case 6: 0x3f  // 5.1
        case 7: 0x13f
        case 8: 0xc3f  // 7.1
        default: 0
        }
    }

    /// Planes in memory: one, or one for each channel.
    public var planes: Int { layout == .interleaved ? 1 : channels }

    /// Bytes in a plane from one moment's sample to the next's.
    public var sampleStride: Int {
        sampleFormat.bytesPerSample * (layout == .interleaved ? channels : 1)
    }

    /// Bytes of `samples` of every channel.
    public func byteCount(samples: Int) -> Int { samples * sampleStride * planes }

    /// How long so many samples of a channel last.
    public func duration(samples: Int) -> MediaTime {
        guard sampleRate > 0 else { return .zero }
        return MediaTime(value: Int64(samples), timescale: Int32(clamping: sampleRate))
    }

    /// How many samples of a channel a time has, rounded to the nearest; negative for a negative time.
    public func samples(in time: MediaTime) -> Int {
        let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let half: Int64 = rest < 0 ? -500_000_000 : 500_000_000
        let whole = seconds.multipliedReportingOverflow(by: Int64(sampleRate))
        guard !whole.overflow else { return time.nanoseconds < 0 ? .min : .max }
        return Int(whole.partialValue + (rest * Int64(sampleRate) + half) / 1_000_000_000)
    }
}

extension AudioFormat: CustomStringConvertible {
    /// `S16LE 48000 Hz 2 channels`
    public var description: String {
        "\(sampleFormat) \(sampleRate) Hz \(channels) channel\(channels == 1 ? "" : "s")"
            + (layout == .planar ? " planar" : "")
    }
}
