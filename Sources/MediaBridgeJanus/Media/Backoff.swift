/// How long attempts wait that follow each other.
struct Backoff: Sendable {
    /// How long the first one waits at most.
    let first: Duration
    /// How long any one waits at most.
    let longest: Duration

    /// Returns how long the attempt of a number, from 1, waits: twice as long as the one before, and up to
    /// half of it less, by chance, so that the members of a room do not come back all at once.
    func delay(beforeAttempt number: Int) -> Duration {
        let doubled = first * (1 << min(max(0, number - 1), 16))
        return min(doubled, longest) * Double.random(in: 0.5...1)
    }
}
