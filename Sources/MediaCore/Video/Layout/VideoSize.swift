/// Width and height of a picture, in pixels.
public struct VideoSize: Hashable, Sendable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size, which is not checked (``isValid``).
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The longest side that a picture may have here: the largest that both VP8 and JPEG can hold.
    public static let longestSide = 16383

    /// Whether both sides are from 1 to ``longestSide``.
    public var isValid: Bool {
        (1...Self.longestSide).contains(width) && (1...Self.longestSide).contains(height)
    }

    public var description: String { "\(width)×\(height)" }
}
