/// Width and height of a picture, in pixels.
public struct VideoSize: Hashable, Sendable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The longest side a picture may have here: what VP8 and JPEG can still hold.
    public static let longestSide = 16383

    /// Whether both sides are from 1 to ``longestSide``.
    public var isValid: Bool {
        (1...Self.longestSide).contains(width) && (1...Self.longestSide).contains(height)
    }

    public var description: String { "\(width)×\(height)" }
}
