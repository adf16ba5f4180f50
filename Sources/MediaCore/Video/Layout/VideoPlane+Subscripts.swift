extension MutableVideoPlanes {
    /// The plane, for writing. Traps if there is no such plane.
    ///
    /// ```swift
    /// let row = planes[0].row(y)
    /// for x in row.byteOffsets { row[x] = 235 }
    /// planes[0].row(y)[0] = 16
    /// ```
    public subscript(index: Int) -> MutableVideoPlane {
        @_lifetime(&self)
        mutating get { plane(index) }
        @_lifetime(&self)
        mutating _modify {
            var plane = plane(index)
            yield &plane
        }
    }
}

// Access to a row as bytes, one for each 8-bit sample.

extension RawSpan {
    /// The byte at `x`. Traps beyond the end.
    public subscript(x: Int) -> UInt8 {
        precondition(x >= 0 && x < byteCount, "byte \(x) of \(byteCount)")
        return unsafe unsafeLoad(fromUncheckedByteOffset: x, as: UInt8.self)
    }
}

extension MutableRawSpan {
    /// The byte at `x`. Traps beyond the end.
    public subscript(x: Int) -> UInt8 {
        get {
            precondition(x >= 0 && x < byteCount, "byte \(x) of \(byteCount)")
            return unsafe unsafeLoad(fromUncheckedByteOffset: x, as: UInt8.self)
        }
        // Not mutating, so that planes[0].row(y)[x] = 0 compiles.
        nonmutating set {
            precondition(x >= 0 && x < byteCount, "byte \(x) of \(byteCount)")
            unsafe withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(mutating: start + x)
                    .storeBytes(of: newValue, as: UInt8.self)
            }
        }
    }
}
