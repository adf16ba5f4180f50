internal import MediaBasics
public import Testing

extension Duration {
    /// A test's deadline, multiplied by the environment's `MEDIABRIDGE_DEADLINE_FACTOR`, which
    /// `make test-thread` and `make test-address` set: a sanitizer makes every thread slower.
    public var onThisMachine: Duration { asDefaultDeadline }
}

extension Trait where Self == TimeLimitTrait {
    /// The most minutes that one test, or one case of it, may take, multiplied like
    /// ``Swift/Duration/onThisMachine``.
    public static func deadline(minutes: Int) -> Self {
        .timeLimit(.minutes(minutes * DeadlineFactor.value))
    }
}

/// How many times longer than usual a test lets live media play, so that slow threads get their turn: 1
/// in `make test`, more under a sanitizer.
public let slowness = max(1, DeadlineFactor.value / 2)
