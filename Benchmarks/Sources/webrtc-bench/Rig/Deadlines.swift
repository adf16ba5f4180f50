extension Duration {
    /// A deadline of the tests' rig. Measuring has a machine to itself: as it is.
    var onThisMachine: Duration { self }

    /// The same time as in the tests, which only ends a hang.
    public static let hangLimit = Duration.seconds(300)
}
