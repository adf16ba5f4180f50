/// The video stream that a renderer receives.
public enum StreamID: Hashable, Sendable {
    /// A track of the engine's own.
    case local(TrackID = .main)
    /// A track of a user in the channel.
    case remote(UserID, TrackID = .main)

    var isLocal: Bool {
        if case .local = self { return true }
        return false
    }
}
