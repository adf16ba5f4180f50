/// Unguessable text from the system's random number generator.
package enum RandomText {
    /// Returns hexadecimal digits, two for each byte.
    package static func hexadecimal(bytes: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<bytes).map { _ in
            let byte = UInt8.random(in: .min ... .max, using: &generator)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
