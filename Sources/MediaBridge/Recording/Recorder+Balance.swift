extension RecorderReport.Track {
    /// The balance of the frames handed over. For audio, whose encoder makes units of other
    /// lengths, `delivered` counts the frames that were not dropped.
    public var balance: FrameBalance {
        guard corrections == nil else {
            return FrameBalance(
                offered: offered, delivered: offered - dropped.total, dropped: dropped)
        }
        return FrameBalance(offered: offered + repeated, delivered: written, dropped: dropped)
    }
}

extension Recorder: FrameBalanceReporting {
    /// Returns the counts for the engine that feeds this recorder. Frames for which ``render(_:)``
    /// throws are not included.
    public func takenFrames(_ kind: MediaKind) -> FrameBalance {
        let report = self.report
        guard let track = kind == .video ? report.video : report.audio else {
            return FrameBalance()
        }
        var taken = track.balance
        let silent: Set<DropCause> = [.notStarted, .closed, .paused, .early, .evicted, .unwritten]
        for cause in DropCause.allCases where !silent.contains(cause) {
            taken.offered -= taken.dropped[cause]
            taken.dropped[cause] = 0
        }
        return taken
    }
}
