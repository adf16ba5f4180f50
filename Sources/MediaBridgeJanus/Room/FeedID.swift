internal import BridgeEngine

/// The id under which a track is published in a room: the user's own for the main track and audio, the
/// user's with `~track~` and a number for a custom track.
struct FeedID: Hashable, Sendable, CustomStringConvertible {
    let user: UserID
    let track: TrackID

    private static let mark = "~track~"

    init(user: UserID, track: TrackID) {
        self.user = user
        self.track = track
    }

    /// Reads the id of a participant.
    init(_ text: String) {
        guard let mark = text.ranges(of: Self.mark).last, mark.lowerBound > text.startIndex,
            let number = Int(text[mark.upperBound...]), number > 0,
            text[mark.upperBound...] == "\(number)"
        else {
            self.init(user: UserID(text), track: .main)
            return
        }
        self.init(user: UserID(String(text[..<mark.lowerBound])), track: TrackID(number))
    }

    var description: String {
        track == .main ? user.name : "\(user.name)\(Self.mark)\(track.number)"
    }
}
