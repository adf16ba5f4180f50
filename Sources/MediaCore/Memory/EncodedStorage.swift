/// The memory behind a unit of encoded media: a GStreamer buffer, or bytes of the program.
///
/// Conforming types are reference-counted handles on bytes that never change. Thread: any, for all
/// members.
public protocol EncodedStorage: AnyObject, Sendable {
    /// The number of bytes.
    var byteCount: Int { get }

    /// What the decoder needs before the first unit, if it is not in the bytes; otherwise `nil`.
    var codecData: [UInt8]? { get }

    /// Maps the bytes, calls `body` once and unmaps them.
    func read(_ body: (UnsafeRawBufferPointer) -> Void) throws(FrameError)
}

/// The memory behind an ``EncodedVideoFrame``.
public protocol EncodedVideoStorage: EncodedStorage {
    /// The size of the picture; `nil` if only the bytes contain it.
    var size: VideoSize? { get }

    /// Whether decoding may begin with the unit; `nil` if only the bytes show it.
    var isKeyFrame: Bool? { get }
}

extension EncodedStorage {
    /// Calls `body` with the bytes, which are valid only during the call.
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        var result: Result<R, any Error>?
        try read { bytes in result = Result { try body(bytes) } }
        guard let result else {
            throw FrameError(.notMappable, "the storage of an encoded frame returned no bytes")
        }
        return try result.get()
    }

    /// A copy of the bytes; empty if the memory cannot be mapped.
    var copiedBytes: [UInt8] { (try? withUnsafeBytes { [UInt8]($0) }) ?? [] }
}

/// Bytes of the program.
final class MemoryEncodedStorage: EncodedVideoStorage {
    private let bytes: [UInt8]
    let codecData: [UInt8]?

    init(_ bytes: [UInt8], codecData: [UInt8]?) {
        self.bytes = bytes
        self.codecData = codecData
    }

    var byteCount: Int { bytes.count }
    var size: VideoSize? { nil }
    var isKeyFrame: Bool? { nil }

    func read(_ body: (UnsafeRawBufferPointer) -> Void) { bytes.withUnsafeBytes { body($0) } }
}
