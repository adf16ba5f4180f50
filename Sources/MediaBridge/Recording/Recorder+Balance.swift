extension RecorderReport.Track {
    /// What became of the frames that were handed over. Of sound, whose encoder makes units of other lengths,
    /// delivered is what was not dropped.
    public var balance: FrameBalance {
        guard corrections == nil else {
            return FrameBalance(
                offered: offered, delivered: offered - dropped.total, dropped: dropped)
        }
        return FrameBalance(offered: offered + repeated, delivered: written, dropped: dropped)
    }
}

extension Recorder: FrameBalanceReporting {
    /// For the engine that feeds it: without what ``render(_:)`` throws for.
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
