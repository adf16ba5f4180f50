/// How one sample of sound is stored, by GStreamer's name: `S16LE`, `F32LE`, `S24_32BE` ….
///
/// Every format that GStreamer's raw audio has can be named; the names in use have constants.
public struct AudioSampleFormat: RawRepresentable, Hashable, Sendable {
    /// What the bits of a sample mean.
    public enum Kind: Hashable, Sendable {
        case signed
        /// Silence is in the middle of the range, not at zero.
        case unsigned
        /// From -1 to 1.
        case float
    }

    /// GStreamer's name: `S16LE`.
    public let rawValue: String
    public let kind: Kind
    /// Bits of a sample that carry sound.
    public let depth: Int
    /// Bits that a sample takes in memory; a multiple of eight.
    public let width: Int
    /// Whether the low byte comes first; true for samples of one byte.
    public let isLittleEndian: Bool

    /// `nil` for a name that no format of raw audio has.
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

    /// For the constants, whose names are right.
    private init(_ name: String, _ kind: Kind, _ bits: Int) {
        rawValue = name
        self.kind = kind
        depth = bits
        width = bits
        isLittleEndian = true
    }

    /// Bytes of one sample of one channel.
    public var bytesPerSample: Int { width / 8 }

    /// Signed 16-bit, low byte first: what RTC SDKs speak.
    public static let s16le = AudioSampleFormat("S16LE", .signed, 16)
    /// Signed 24-bit in three bytes.
    public static let s24le = AudioSampleFormat("S24LE", .signed, 24)
    public static let s32le = AudioSampleFormat("S32LE", .signed, 32)
    public static let f32le = AudioSampleFormat("F32LE", .float, 32)
    public static let f64le = AudioSampleFormat("F64LE", .float, 64)
    public static let u8 = AudioSampleFormat("U8", .unsigned, 8)
    public static let s8 = AudioSampleFormat("S8", .signed, 8)
}

extension AudioSampleFormat: CustomStringConvertible {
    public var description: String { rawValue }
}

extension AudioSampleFormat {
    /// Writes silence, which for unsigned samples is not zero.
    func silence(_ memory: UnsafeMutableRawBufferPointer) {
        guard kind == .unsigned else {
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            return
        }
        // The middle of the range has its top bit set, and that alone.
        let size = bytesPerSample
        let top = (depth - 1) / 8
        let place = isLittleEndian ? top : size - 1 - top
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        for at in stride(from: place, to: memory.count, by: size) {
            memory[at] = 1 << UInt8((depth - 1) % 8)
        }
    }
}

/// A number type that samples of one format can be read as.
public protocol AudioSampleValue: BitwiseCopyable, Sendable {
    /// The one format whose samples are this type's values in memory.
    static var sampleFormat: AudioSampleFormat { get }
}

// Linux runs Swift on processors that put the low byte first, and on no others.
extension Int16: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.s16le }
extension Int32: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.s32le }
extension Float: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.f32le }
extension Double: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.f64le }
extension UInt8: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.u8 }
extension Int8: AudioSampleValue { public static let sampleFormat = AudioSampleFormat.s8 }
