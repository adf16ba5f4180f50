/// A picture without a time: a small, copyable handle on pixels that are counted, and copied only where
/// they are written while someone else holds them. What RTC SDKs on other systems call `CVPixelBuffer`.
///
/// May be used on any thread.
public struct PixelBuffer: Sendable {
    /// Where the pixels are.
    @inlinable public var storage: any VideoFrameStorage { pixels }
    @usableFromInline internal var pixels: any VideoFrameStorage

    @inlinable
    public init(_ storage: any VideoFrameStorage) { pixels = storage }

    /// A black picture with memory of its own.
    ///
    /// - Parameters:
    ///   - pixelFormat: One of the formats that ``VideoPixelFormat/packedPlanes(_:strideInPixels:)``
    ///     knows; frames of any other are made where GStreamer is at hand.
    /// - Throws: ``FrameError``: a format not known here, a size out of range, no memory.
    public init(_ pixelFormat: VideoPixelFormat, size: VideoSize) throws(FrameError) {
        let planes = try pixelFormat.packedPlanes(size)
        let format = VideoFormat(pixelFormat, width: size.width, height: size.height)
        let storage = try MemoryFrameStorage(format: format, planes: planes)
        self.init(storage)
        try storage.write { planes in
            switch pixelFormat {
            case .gray8: break  // zero is black where luma has its full range
            case .bgra, .rgba: planes.blacken(alphaAt: 3)
            case .argb: planes.blacken(alphaAt: 0)
            default:
                for index in 0..<planes.count {
                    var plane = planes.plane(index)
                    plane.fill(index == 0 ? 16 : 128)
                }
            }
        }
    }

    /// What this picture is.
    public var format: VideoFormat { storage.format }
    /// Pixels in a row.
    public var width: Int { format.width }
    /// Rows.
    public var height: Int { format.height }

    /// Maps the pixels for reading while `body` runs.
    ///
    /// - Throws: ``FrameError`` where the memory cannot be mapped, and whatever `body` throws.
    public func withPlanes<R>(_ body: (borrowing VideoPlanes) throws -> R) throws -> R {
        var result: Result<R, any Error>?
        try storage.read { planes in
            do { result = .success(try body(planes)) } catch { result = .failure(error) }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Maps the pixels for writing while `body` runs. Copies them first if another frame, or a
    /// pipeline, still sees them.
    ///
    /// - Throws: ``FrameError`` where the memory cannot be mapped or copied, and whatever `body` throws.
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlanes) throws -> R
    ) throws -> R {
        if !Self.isUnique(&pixels) || !pixels.isWritable { pixels = try pixels.copy() }
        var result: Result<R, any Error>?
        try pixels.write { planes in
            do { result = .success(try body(&planes)) } catch { result = .failure(error) }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Whether this handle alone holds the storage.
    ///
    /// Handed to a generic function, an existential is opened into a second reference, and the answer
    /// would always be no. So the reference, the first word of a class existential, is asked where it
    /// lies, through a function of one type.
    private static func isUnique(_ storage: inout any VideoFrameStorage) -> Bool {
        let ask: (inout AnyObject) -> Bool = isKnownUniquelyReferenced
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let reference = unsafe UnsafeMutableRawPointer(pointer)
                .assumingMemoryBound(to: AnyObject.self)
            return unsafe ask(&reference.pointee)
        }
    }
}

extension MutableVideoPlanes {
    /// Makes a picture of four zeroed bytes a pixel opaque: a black that nobody sees is none.
    fileprivate mutating func blacken(alphaAt offset: Int) {
        var plane = self.plane(0)
        plane.withUnsafeMutableBytes { bytes in
            for at in stride(from: offset, to: bytes.count, by: 4) { bytes[at] = 255 }
        }
    }
}
