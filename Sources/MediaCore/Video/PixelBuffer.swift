/// A picture without a time: a small, copyable, reference-counted handle on pixels. They are copied
/// only when they are written while another reference exists. RTC SDKs on other systems use
/// `CVPixelBuffer` for this.
///
/// Thread: any.
public struct PixelBuffer: Sendable {
    /// The memory that holds the pixels.
    @inlinable public var storage: any VideoFrameStorage { pixels }
    @usableFromInline internal var pixels: any VideoFrameStorage

    /// Creates a handle on a storage.
    @inlinable
    public init(_ storage: any VideoFrameStorage) { pixels = storage }

    /// Creates a black picture in newly allocated memory.
    ///
    /// - Parameters:
    ///   - pixelFormat: One of the formats that
    ///     ``VideoPixelFormat/packedPlanes(_:strideInPixels:)`` supports; GStreamer is needed to
    ///     create frames of any other.
    ///   - size: The size in pixels.
    /// - Throws: ``FrameError`` if the format is not supported here, the size is out of range, or
    ///   there is no memory.
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
                    let plane = planes[index]
                    plane.fill(index == 0 ? 16 : 128)
                }
            }
        }
    }

    /// The format of the picture.
    public var format: VideoFormat { storage.format }
    /// The size in pixels.
    public var size: VideoSize { storage.size }
    /// The width in pixels.
    public var width: Int { size.width }
    /// The height in rows.
    public var height: Int { size.height }

    /// Maps the pixels for reading while `body` runs.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped, and any error that `body` throws.
    public func withPlanes<R>(_ body: (borrowing VideoPlanes) throws -> R) throws -> R {
        var result: Result<R, any Error>?
        try storage.read { planes in
            do { result = .success(try body(planes)) } catch { result = .failure(error) }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Maps the pixels for writing while `body` runs. Copies them first if another frame, or a
    /// pipeline, still holds them.
    ///
    /// - Throws: ``FrameError`` if the memory cannot be mapped or copied, and any error that `body`
    ///   throws.
    public mutating func withMutablePlanes<R>(
        _ body: (inout MutableVideoPlanes) throws -> R
    ) throws -> R {
        if !isSoleOwner { pixels = try pixels.copy() }
        var result: Result<R, any Error>?
        try pixels.write { planes in
            do { result = .success(try body(&planes)) } catch { result = .failure(error) }
        }
        return try result!.get()  // a storage calls the body once, or throws
    }

    /// Whether nothing else holds the pixels, so that they may be written in place.
    package var isSoleOwner: Bool { mutating get { Self.isUnique(&pixels) && pixels.isWritable } }

    /// Whether this handle holds the only reference to the storage.
    ///
    /// Passing an existential to a generic function opens it into a second reference, so the result
    /// would always be `false`. Therefore the reference, which is the first word of a class
    /// existential, is checked in place, through a function of a concrete type.
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
    /// Sets the alpha of a zeroed picture of four bytes per pixel to opaque; transparent black
    /// would not be visible.
    fileprivate mutating func blacken(alphaAt offset: Int) {
        let plane = self[0]
        plane.withUnsafeMutableBytes { bytes in
            for at in stride(from: offset, to: bytes.count, by: 4) { bytes[at] = 255 }
        }
    }
}
