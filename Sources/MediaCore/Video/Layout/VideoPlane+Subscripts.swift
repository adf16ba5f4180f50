extension MutableVideoPlanes {
    /// The plane, for writing. Traps if there is no such plane.
    ///
    /// ```swift
    /// var row = planes[0].row(y)
    /// for x in row.byteOffsets { row[x] = 235 }
    /// ```
    ///
    /// A row is an exclusive access to its plane: `planes[0].width` must be read before or after.
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
        @_lifetime(self: copy self)
        set { storeBytes(of: newValue, toByteOffset: x, as: UInt8.self) }
    }
}
