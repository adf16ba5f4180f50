/// How far a picture must be turned clockwise to stand upright.
public enum VideoRotation: Int, Sendable, CaseIterable {
    case none = 0
    case rotation90 = 90
    case rotation180 = 180
    case rotation270 = 270
}
