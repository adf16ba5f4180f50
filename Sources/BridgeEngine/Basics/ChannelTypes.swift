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

    /// The ``name`` in one line, for logs and messages: spaces replace line breaks, which would let a user
    /// forge lines of a log.
    public var description: String { String(name.map { $0.isNewline ? " " : $0 }) }
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

/// One stream of a user, or of the engine: a video track, or the audio.
public enum MediaTrackID: Hashable, Sendable, CustomStringConvertible {
    /// A video track.
    case video(TrackID)
    /// The audio. A user has one audio stream.
    case audio

    /// The description of the video track, or `audio`.
    public var description: String {
        switch self {
        case .video(let track): "\(track)"
        case .audio: "audio"
        }
    }
}

/// The id of a video stream.
public enum VideoStreamID: Hashable, Sendable {
    /// A track of the engine's own.
    case local(TrackID = .main)
    /// A track of a user in the channel.
    case remote(UserID, TrackID = .main)

    var isLocal: Bool { if case .local = self { true } else { false } }
}

/// The id of an audio stream.
public enum AudioStreamID: Hashable, Sendable {
    /// The engine's own audio.
    case local
    /// The audio of one user in the channel.
    case remote(UserID)
    /// The mix of all users in the channel.
    case playback

    var isLocal: Bool { self == .local }
}

/// The reason why a user is no longer in the channel.
public enum OfflineReason: Sendable {
    /// The user left the channel.
    case quit
    /// The user timed out, or its program ended without leaving.
    case dropped
    /// The user was removed.
    case kicked
}

// MARK: States and messages

/// The state of a track's publication.
public enum PublicationState: Sendable {
    /// The channel has not agreed yet on how the track is sent.
    case negotiating
    /// The track is being sent to at least one receiver.
    case sending
    /// The track has no receivers, is muted, or its connection is interrupted: the publisher need
    /// not encode.
    case paused
    /// The track is no longer sent; carries the reason.
    case failed(EngineError)
}

/// A message from one user of a channel to others.
public struct ChannelMessage: Hashable, Sendable {
    /// The bytes of the message.
    public var bytes: [UInt8]
    /// The maximum size of a message in bytes: 16 KiB, which every WebRTC data channel carries.
    public static let maximumSize = 16384

    /// Creates a message of bytes.
    public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    /// Creates a message of text, in UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// Throws ``EngineError/Code/invalidArgument`` if the message is longer than ``maximumSize``.
    package func checkSize() throws(EngineError) {
        guard bytes.count > Self.maximumSize else { return }
        throw EngineError(
            .invalidArgument, message: "a message of \(bytes.count) bytes is too long",
            advice: "at most \(Self.maximumSize) bytes")
    }

    /// The message as text; invalid UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
