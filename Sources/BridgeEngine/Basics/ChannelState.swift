/// The state of the connection to a channel.
public enum ChannelConnection: Sendable {
    /// The user sends and receives.
    case connected
    /// The connection is interrupted and is being restored. Carries the number of the attempt, from
    /// 1, and the reason why the previous one failed. Nothing is sent or received meanwhile.
    case reconnecting(attempt: Int, EngineError)
}

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

    /// The message as text; invalid UTF-8 is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
