public import MediaCore

/// What a user wants of another user's video track.
public struct VideoDemand: Hashable, Sendable {
    /// How important a track is where not all of them fit.
    public enum Priority: Int, Hashable, Sendable, Comparable {
        /// Below others, as a small picture at the edge.
        case low
        /// The default.
        case normal
        /// Before others, as the one that everybody looks at.
        case high

        /// Whether the first is less important.
        public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
    }
    /// The largest size that is of use, in pixels; `nil`, the default, for any.
    public var size: VideoSize?
    /// The most frames per second that are of use; `nil`, the default, for any.
    public var frameRate: Double?
    /// How important the track is. Default ``Priority/normal``.
    public var priority = Priority.normal

    /// Creates a demand for the track as it is.
    public init() {}
}
