/// What happens to a frame that arrives while a queue is full.
public enum WhenFull: Sendable {
    /// The behaviour that suits the source of the frame: see the property that takes this value.
    case automatic
    /// Evicts the oldest frame.
    case evictOldest
    /// The caller that hands the frame over waits.
    case wait
}
