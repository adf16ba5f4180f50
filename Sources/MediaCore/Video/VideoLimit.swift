/// The most of a video track that receivers and the network can use.
public struct VideoLimit: Hashable, Sendable, CustomStringConvertible {
    /// Bits per second; `nil` for any.
    public var bitRate: Int?
    /// The size in pixels; `nil` for any.
    public var size: VideoSize?
    /// Frames per second; `nil` for any.
    public var frameRate: Double?

    /// Creates a limit that allows everything.
    public init() {}

    /// The parts that are limited; `no limit` if none is.
    public var description: String {
        let parts = [
            bitRate.map { "\($0) bit/s" }, size.map { "\($0)" }, frameRate.map { "\($0) fps" },
        ].compactMap { $0 }
        return parts.isEmpty ? "no limit" : parts.joined(separator: ", ")
    }
}
