/// The fuzzer's bytes, consumed in order and followed by zeros.
struct FuzzInput {
    private var bytes: Slice<UnsafeBufferPointer<UInt8>>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes[...] }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

    /// Usually small; sometimes any value.
    mutating func size() -> Int {
        let first = byte()
        return first < 240 ? Int(first) % 80 : Int(truncatingIfNeeded: wide())
    }

    mutating func wide() -> Int64 {
        (0..<8).reduce(0) { number, _ in number << 8 | Int64(byte()) }
    }

    mutating func rest() -> [UInt8] {
        defer { bytes = bytes[bytes.endIndex...] }
        return Array(bytes)
    }
}
