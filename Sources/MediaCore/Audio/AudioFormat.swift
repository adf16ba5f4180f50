/// The format of an audio frame: sample format, sample rate, channels, planes and channel
/// positions.
///
/// Each frame has its own format, and it may change from frame to frame.
public struct AudioFormat: Equatable, Sendable {
    /// How one sample is stored.
    public var sampleFormat: AudioSampleFormat
    /// Samples per second of each channel, in Hz.
    public var sampleRate: Int
    /// The number of channels.
    public var channels: Int
    /// Whether each channel has a plane in memory, which GStreamer calls `non-interleaved`. If false, the
    /// samples of all channels for one moment lie next to each other in one plane.
    public var isPlanar: Bool
    /// The positions of the channels: GStreamer's `channel-mask`, one bit for each position in the
    /// order of the channels (front left, front right, front centre, low frequencies, rear left …).
    /// Zero for mono and for channels without a position.
    public var channelMask: UInt64

    /// Creates a format.
    ///
    /// - Parameters:
    ///   - sampleFormat: How a sample is stored. Default: 16 bits, signed, little endian.
    ///   - sampleRate: Samples per second of each channel, in Hz.
    ///   - channels: The number of channels.
    ///   - isPlanar: Whether each channel has a plane. Default: one plane for all.
    ///   - channelMask: The channel positions; `nil` for the usual ones.
    public init(
        _ sampleFormat: AudioSampleFormat = .s16le, sampleRate: Int, channels: Int,
        isPlanar: Bool = false, channelMask: UInt64? = nil
    ) {
        self.sampleFormat = sampleFormat
        self.sampleRate = sampleRate
        self.channels = channels
        self.isPlanar = isPlanar
        self.channelMask = channelMask ?? Self.usualMask(channels: channels)
    }

    /// The largest number of channels that a format may have, as in GStreamer.
    package static let mostChannels = 64

    /// The highest sample rate that a format may have, in Hz.
    package static let highestRate = 768_000

    /// Whether the rate and the number of channels are within bounds, and the mask names either as
    /// many positions as there are channels or none.
    package var isValid: Bool {
        (1...Self.highestRate).contains(sampleRate)
            && (1...Self.mostChannels).contains(channels)
            && (channelMask == 0 || channelMask.nonzeroBitCount == channels)
    }

    /// Returns the usual positions for a number of channels: stereo, quadraphonic, 5.1, 7.1 and the
    /// like for two to eight channels; zero for mono and for more than eight.
    package static func usualMask(channels: Int) -> UInt64 {
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

    /// The number of planes in memory: one if interleaved, otherwise one for each channel.
    public var planes: Int { isPlanar ? channels : 1 }

    /// Bytes in a plane from the sample of one moment to that of the next.
    package var sampleStride: Int {
        sampleFormat.bytesPerSample * (isPlanar ? 1 : channels)
    }

    /// Returns the number of bytes that `sampleCount` samples of every channel take, over all planes.
    public func byteCount(sampleCount: Int) -> Int { sampleCount * sampleStride * planes }

    /// Returns how long `sampleCount` samples of one channel last; zero if the sample rate is not
    /// positive.
    public func duration(sampleCount: Int) -> MediaTime {
        guard sampleRate > 0 else { return .zero }
        return MediaTime(value: Int64(sampleCount), timescale: Int32(clamping: sampleRate))
    }

    /// Returns the number of samples of one channel in `time`, rounded to the nearest; negative for
    /// a negative time.
    public func sampleCount(in time: MediaTime) -> Int {
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
            + (isPlanar ? " planar" : "")
    }
}

// MARK: Samples

/// How one audio sample is stored, by GStreamer's name: `S16LE`, `F32LE`, `S24_32BE` ….
///
/// Any raw audio format of GStreamer can be created from its name; the common ones have constants.
public struct AudioSampleFormat: RawRepresentable, Equatable, Sendable {
    /// What the bits of a sample mean.
    package enum Kind: Equatable, Sendable {
        /// Signed integers.
        case signed
        /// Unsigned integers. Silence is the middle of the range, not zero.
        case unsigned
        /// Floating point, from -1 to 1.
        case float
    }

    /// GStreamer's name, such as `S16LE`.
    public let rawValue: String
    /// What the bits of a sample mean.
    package let kind: Kind
    /// The number of significant bits in a sample.
    package let depth: Int
    /// The number of bits that a sample takes in memory; a multiple of eight.
    package let width: Int
    /// Whether the least significant byte comes first; true for samples of one byte.
    package let isLittleEndian: Bool

    /// Creates a format from GStreamer's name; `nil` if no raw audio format has that name.
    public init?(rawValue: String) {
        var rest = rawValue[...]
        let kind: Kind
        switch rest.popFirst() {
        case "S": kind = .signed
        case "U": kind = .unsigned
        case "F": kind = .float
        default: return nil
        }
        let isBigEndian = rest.hasSuffix("BE")
        let namesOrder = isBigEndian || rest.hasSuffix("LE")
        if namesOrder { rest.removeLast(2) }
        let isPadded = rest.hasSuffix("_32")
        if isPadded { rest.removeLast(3) }
        let depths = kind == .float ? ["32", "64"] : ["8", "16", "18", "20", "24", "32"]
        guard depths.contains(String(rest)), let depth = Int(rest), namesOrder == (depth > 8),
            !isPadded || (kind != .float && [20, 24].contains(depth))
        else { return nil }
        self.rawValue = rawValue
        self.kind = kind
        self.depth = depth
        width = isPadded ? 32 : (depth + 7) / 8 * 8
        isLittleEndian = !isBigEndian
    }

    /// Creates a constant; the name is not checked.
    private init(_ name: String, _ kind: Kind, _ bits: Int) {
        rawValue = name
        self.kind = kind
        depth = bits
        width = bits
        isLittleEndian = true
    }

    /// The number of bytes of one sample of one channel.
    public var bytesPerSample: Int { width / 8 }

    /// Signed 16-bit, little-endian; the format of RTC SDKs.
    public static let s16le = AudioSampleFormat("S16LE", .signed, 16)
    /// Signed 24-bit in three bytes, little-endian.
    public static let s24le = AudioSampleFormat("S24LE", .signed, 24)
    /// Signed 32-bit, little-endian.
    public static let s32le = AudioSampleFormat("S32LE", .signed, 32)
    /// 32-bit floating point, little-endian.
    public static let f32le = AudioSampleFormat("F32LE", .float, 32)
    /// 64-bit floating point, little-endian.
    public static let f64le = AudioSampleFormat("F64LE", .float, 64)
    /// Unsigned 8-bit.
    public static let u8 = AudioSampleFormat("U8", .unsigned, 8)
    /// Signed 8-bit.
    public static let s8 = AudioSampleFormat("S8", .signed, 8)
}

extension AudioSampleFormat: CustomStringConvertible {
    public var description: String { rawValue }
}

extension AudioSampleFormat {
    /// Fills the memory with silence, which is not zero for unsigned samples.
    func silence(_ memory: UnsafeMutableRawBufferPointer) {
        guard kind == .unsigned else {
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            return
        }
        // In the middle of the range only the top bit is set.
        let size = bytesPerSample
        let top = (depth - 1) / 8
        let place = isLittleEndian ? top : size - 1 - top
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        for at in stride(from: place, to: memory.count, by: size) {
            memory[at] = 1 << UInt8((depth - 1) % 8)
        }
    }
}

/// A numeric type as which samples of one format can be read.
public protocol AudioSampleValue: BitwiseCopyable, Sendable {
    /// The format whose samples have the memory representation of this type.
    static var sampleFormat: AudioSampleFormat { get }
}

// Swift on Linux runs only on little-endian processors.
extension Int16: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.s16le }
extension Int32: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.s32le }
extension Float: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.f32le }
extension Double: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.f64le }
extension UInt8: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.u8 }
extension Int8: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.s8 }
