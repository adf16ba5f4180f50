/// The id of a user, unique in a channel: a name or a number.
public struct UserID: Hashable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral
{
    /// The id as text; a number in decimal notation.
    public let name: String

    /// Creates an id from a name.
    public init(_ name: String) { self.name = name }
    /// Creates an id from a number.
    public init(_ number: UInt) { name = String(number) }
    /// Creates an id from a string literal.
    public init(stringLiteral value: String) { name = value }
    /// Creates an id from an integer literal.
    public init(integerLiteral value: UInt) { name = String(value) }

    /// The id as text, the same as ``name``.
    public var description: String { name }
}

/// The number of one video track of a user.
public struct TrackID: Hashable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// The track's number; zero for ``main``.
    public let number: Int

    /// Creates an id from a number.
    public init(_ number: Int) { self.number = number }
    /// Creates an id from an integer literal.
    public init(integerLiteral value: Int) { number = value }

    /// The track of the engine's video source.
    public static let main: TrackID = 0

    /// `main track`, or `track` and the number.
    public var description: String { self == .main ? "main track" : "track \(number)" }
}

/// The reason why a user is no longer in the channel.
public enum OfflineReason: String, Sendable, CustomStringConvertible {
    /// The user left the channel.
    case quit
    /// The user timed out, or its program ended without leaving.
    case dropped
    /// The user was removed.
    case kicked
    /// The name of the case.
    public var description: String { rawValue }
}
