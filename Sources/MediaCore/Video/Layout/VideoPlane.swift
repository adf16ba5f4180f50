/// One plane of a picture, mapped for reading and valid only inside the closure that mapped it.
///
/// Row `y` begins at byte `y * stride`, independent of the width.
public struct VideoPlane: ~Escapable {
    private let memory: UnsafeRawBufferPointer
    /// The layout of rows and samples in the plane's memory.
    public let layout: VideoPlaneLayout

    @_lifetime(immortal)
    init(unsafe memory: UnsafeRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }

    /// The number of bytes from one row to the next.
    public var stride: Int { layout.stride }
    /// The number of rows.
    public var rows: Int { layout.rows }
    /// The number of samples in a row.
    public var width: Int { layout.width }

    /// The whole plane including padding, up to the end of the memory.
    public var bytes: RawSpan {
        @_lifetime(copy self)
        get { unsafe _overrideLifetime(memory.bytes, copying: self) }
    }

    /// Returns the bytes of row `y` that hold samples. Traps if there is no such row.
    @_lifetime(copy self)
    public func row(_ y: Int) -> RawSpan {
        let row = memory[layout.bytes(of: y, in: memory.count)]
        return unsafe _overrideLifetime(UnsafeRawBufferPointer(rebasing: row).bytes, copying: self)
    }

    /// Calls `body` with the plane's memory, for C and SIMD code. The pointer must not leave
    /// `body`.
    public func withUnsafeBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(memory)
    }
}

/// One plane of a picture, mapped for writing and valid only inside the closure that mapped it.
public struct MutableVideoPlane: ~Copyable, ~Escapable {
    private let memory: UnsafeMutableRawBufferPointer
    /// The layout of rows and samples in the plane's memory.
    public let layout: VideoPlaneLayout

    @_lifetime(immortal)
    init(unsafe memory: UnsafeMutableRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }

    /// The number of bytes from one row to the next.
    public var stride: Int { layout.stride }
    /// The number of rows.
    public var rows: Int { layout.rows }
    /// The number of samples in a row.
    public var width: Int { layout.width }

    /// The whole plane including padding, up to the end of the memory.
    public var bytes: MutableRawSpan {
        @_lifetime(&self)
        mutating get { unsafe _overrideLifetime(memory.mutableBytes, mutating: &self) }
    }

    /// Returns the bytes of row `y` that hold samples. Traps if there is no such row.
    @_lifetime(copy self)
    public func row(_ y: Int) -> MutableRawSpan {
        let row = UnsafeMutableRawBufferPointer(
            rebasing: memory[layout.bytes(of: y, in: memory.count)])
        return unsafe _overrideLifetime(row.mutableBytes, copying: self)
    }

    /// Sets every byte of the plane, including padding.
    public func fill(_ byte: UInt8) {
        unsafe memory.initializeMemory(as: UInt8.self, repeating: byte)
    }

    /// Calls `body` with the plane's memory, for C and SIMD code. The pointer must not leave
    /// `body`.
    public func withUnsafeMutableBytes<R, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(memory)
    }
}
