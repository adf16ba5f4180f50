extension MutableVideoPlanes {
    /// The plane, for writing. Traps on a plane that is not there.
    ///
    /// ```swift
    /// let width = planes[0].width
    /// var row = planes[0].row(y)
    /// for x in 0..<width { row[x] = 235 }
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

// A row as bytes, one for each sample of 8 bits.

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
