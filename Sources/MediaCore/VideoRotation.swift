/// How far a picture must be turned clockwise to stand upright.
public enum VideoRotation: Int, Sendable, CaseIterable {
    case none = 0
    case rotation90 = 90
    case rotation180 = 180
    case rotation270 = 270

    /// What Agora's headers call ``none``.
    public static let rotationNone = VideoRotation.none

    /// Both turns, one after the other.
    public static func + (a: VideoRotation, b: VideoRotation) -> VideoRotation {
        VideoRotation(rawValue: (a.rawValue + b.rawValue) % 360) ?? .none
    }
}
