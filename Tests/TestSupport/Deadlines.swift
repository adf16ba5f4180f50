internal import MediaBasics
public import Testing

extension Duration {
    /// The time after which a test stops waiting for a program. It only ends hangs: even a machine
    /// ten times slower than usual stays far below it.
    public static let hangLimit = Duration.seconds(300)

    /// A limit for a check outside `make test`, multiplied by `MEDIABRIDGE_DEADLINE_FACTOR` under a
    /// sanitizer.
    public var onThisMachine: Duration { asDefaultDeadline }
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test, or one case of it, that hangs. It counts while others run, too, and a sanitizer makes all slower.
    public static var hangGuard: Self { .timeLimit(.minutes(Sanitizer.isActive ? 60 : 10)) }
}

extension Trait where Self == ConditionTrait {
    /// Skips tests that need a Janus server if the distribution has none, such as Debian 13.
    public static var needsJanus: Self {
        .enabled(if: JanusServer.isInstalled, "janus is not installed")
    }
}
