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

    /// OpenTok's orientation: up 1, down 2, left 3, right 4; `nil` for any other number.
    public init?(orientation number: Int) {
        switch number {
        case 1: self = .none
        case 2: self = .rotation180
        case 3: self = .rotation90
        case 4: self = .rotation270
        default: return nil
        }
    }
}
