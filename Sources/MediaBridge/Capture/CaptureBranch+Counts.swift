/// Counts of what became of the samples of a branch in this run.
extension CaptureBranch {
    /// Samples that arrived at the appsink.
    var arrivedSamples: Int { translation.arrived.value }

    /// Samples that were pulled from the appsink, discarded ones included.
    var takenSamples: Int { translation.takenSamples }

    /// Accounts for the samples that arrived.
    var balance: FrameBalance { translation.balance }
}
