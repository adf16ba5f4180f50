/// How one audio sample is stored, by GStreamer's name: `S16LE`, `F32LE`, `S24_32BE` ….
///
/// Any raw audio format of GStreamer can be created from its name; the common ones have constants.
public struct AudioSampleFormat: RawRepresentable, Hashable, Sendable {
    /// What the bits of a sample mean.
    public enum Kind: Hashable, Sendable {
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
    public let kind: Kind
    /// The number of significant bits in a sample.
    public let depth: Int
    /// The number of bits that a sample takes in memory; a multiple of eight.
    public let width: Int
    /// Whether the least significant byte comes first; true for samples of one byte.
    public let isLittleEndian: Bool

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
