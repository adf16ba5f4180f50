extension Duration {
    /// A deadline of the tests' rig. Measuring has a machine to itself: as it is.
    var onThisMachine: Duration { self }
}
