/// How far a picture must be turned clockwise to stand upright.
public enum VideoRotation: Int, Sendable, CaseIterable {
    /// No turn.
    case none = 0
    /// A quarter turn clockwise.
    case rotation90 = 90
    /// Half a turn.
    case rotation180 = 180
    /// Three quarters of a turn clockwise.
    case rotation270 = 270

    /// ``none`` under its Agora name.
    public static let rotationNone = VideoRotation.none

    /// Returns the rotation that results from both turns.
    public static func + (a: VideoRotation, b: VideoRotation) -> VideoRotation {
        VideoRotation(rawValue: (a.rawValue + b.rawValue) % 360) ?? .none
    }

    /// Creates a rotation from OpenTok's orientation: up 1, down 2, left 3, right 4; `nil` for any
    /// other number.
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
