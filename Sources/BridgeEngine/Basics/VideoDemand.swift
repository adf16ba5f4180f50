public import MediaCore

/// The form in which a user wants another user's video track.
public struct VideoDemand: Hashable, Sendable {
    /// The priority of a track if not all tracks fit.
    public enum Priority: Int, Hashable, Sendable, Comparable {
        /// Lower than other tracks, such as a small picture at the edge.
        case low
        /// The default.
        case normal
        /// Higher than other tracks, such as the one that all users look at.
        case high

        /// Whether the first is less important.
        public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
    }
    /// The largest useful size, in pixels; `nil`, the default, for any.
    public var size: VideoSize?
    /// The highest useful frame rate, in frames per second; `nil`, the default, for any.
    public var frameRate: Double?
    /// The priority of the track. Default ``Priority/normal``.
    public var priority = Priority.normal

    /// Creates a demand for any size and frame rate, with normal priority.
    public init() {}
}
