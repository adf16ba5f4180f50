/// Who somebody is in a channel: unique there. Numbers and names both do.
public struct UserID: Hashable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral
{
    public let name: String

    public init(_ name: String) { self.name = name }
    public init(_ number: UInt) { name = String(number) }
    public init(stringLiteral value: String) { name = value }
    public init(integerLiteral value: UInt) { name = String(value) }

    public var description: String { name }
}

/// One of a user's video streams.
public struct TrackID: Hashable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    public let number: Int

    public init(_ number: Int) { self.number = number }
    public init(integerLiteral value: Int) { number = value }

    /// The stream of the engine's video source.
    public static let main: TrackID = 0

    public var description: String { self == .main ? "main track" : "track \(number)" }
}

/// Why a user is gone.
public enum OfflineReason: String, Sendable {
    /// Left.
    case quit
    /// Has not been heard of for too long, or its program ended without a word.
    case dropped
}
