extension Duration {
    /// A deadline of the test rig, unscaled: a benchmark has the machine to itself.
    var onThisMachine: Duration { self }

    /// The same as in the tests; it only ends a hang.
    public static let hangLimit = Duration.seconds(300)
}
