/// The state of the connection to a channel.
public enum ChannelConnection: Sendable {
    /// The user sends and receives.
    case connected
    /// The connection is interrupted, and is being restored: the number of the attempt, from 1, and
    /// why the one before failed. Nothing is sent or received meanwhile.
    case reconnecting(attempt: Int, EngineError)
}

/// How the publication of a track goes.
public enum PublicationState: Sendable {
    /// The channel has not agreed yet on how the track is sent.
    case negotiating
    /// The track is sent to somebody.
    case sending
    /// Nobody wants the track, it is muted, or the connection is interrupted: nothing has to be
    /// encoded.
    case paused
    /// The track is not sent any more, and why.
    case failed(EngineError)
}

/// A message from one user of a channel to others.
public struct ChannelMessage: Hashable, Sendable {
    /// The bytes of the message.
    public var bytes: [UInt8]
    /// The most bytes that a message has: 16 KiB, which every WebRTC data channel carries.
    public static let maximumSize = 16384

    /// Creates a message of bytes.
    public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    /// Creates a message of text, in UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The message as text; what is not UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
