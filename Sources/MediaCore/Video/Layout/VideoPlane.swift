/// One plane of a picture, readable, inside the scope that mapped it.
///
/// A plane is bytes **and** stride: row `y` begins at `y * stride`, whatever the width is.
public struct VideoPlane: ~Escapable {
    private let memory: UnsafeRawBufferPointer
    /// Where rows and samples lie.
    public let layout: VideoPlaneLayout

    @_lifetime(immortal)
    init(unsafe memory: UnsafeRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }

    /// Bytes from row to row.
    public var stride: Int { layout.stride }
    /// Rows.
    public var rows: Int { layout.rows }
    /// Samples in a row.
    public var width: Int { layout.width }

    /// The whole plane, padding included, as far as the memory reaches.
    public var bytes: RawSpan {
        @_lifetime(copy self)
        get { unsafe _overrideLifetime(memory.bytes, copying: self) }
    }

    /// The bytes of row `y` that hold samples. Traps on a row that is not there.
    @_lifetime(copy self)
    public func row(_ y: Int) -> RawSpan {
        let row = memory[layout.bytes(of: y, in: memory.count)]
        return unsafe _overrideLifetime(UnsafeRawBufferPointer(rebasing: row).bytes, copying: self)
    }

    /// The plane's memory for C and SIMD code. The pointer must not leave `body`.
    public func withUnsafeBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(memory)
    }
}

/// One plane of a picture, writable, inside the scope that mapped it.
public struct MutableVideoPlane: ~Copyable, ~Escapable {
    private let memory: UnsafeMutableRawBufferPointer
    /// Where rows and samples lie.
    public let layout: VideoPlaneLayout

    @_lifetime(immortal)
    init(unsafe memory: UnsafeMutableRawBufferPointer, layout: VideoPlaneLayout) {
        self.memory = memory
        self.layout = layout
    }

    /// Bytes from row to row.
    public var stride: Int { layout.stride }
    /// Rows.
    public var rows: Int { layout.rows }
    /// Samples in a row.
    public var width: Int { layout.width }

    /// The whole plane, padding included, as far as the memory reaches.
    public var bytes: MutableRawSpan {
        @_lifetime(&self)
        mutating get { unsafe _overrideLifetime(memory.mutableBytes, mutating: &self) }
    }

    /// The bytes of row `y` that hold samples. Traps on a row that is not there.
    @_lifetime(&self)
    public mutating func row(_ y: Int) -> MutableRawSpan {
        let row = UnsafeMutableRawBufferPointer(
            rebasing: memory[layout.bytes(of: y, in: memory.count)])
        return unsafe _overrideLifetime(row.mutableBytes, mutating: &self)
    }

    /// Sets every byte of the plane, padding included.
    public mutating func fill(_ byte: UInt8) {
        unsafe memory.initializeMemory(as: UInt8.self, repeating: byte)
    }

    /// The plane's memory for C and SIMD code. The pointer must not leave `body`.
    public mutating func withUnsafeMutableBytes<R, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(memory)
    }
}
