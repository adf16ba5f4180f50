extension RecorderReport.Track {
    /// The balance of the frames handed over and repeated. For audio, whose encoder makes units of
    /// other lengths, `delivered` counts the buffers that were not dropped.
    public var balance: FrameBalance {
        let offered = offered + repeated
        return FrameBalance(
            offered: offered, delivered: corrections == nil ? written : offered - dropped.total,
            dropped: dropped)
    }

    /// All that no file contains, by cause: frames, and units of audio.
    var losses: DropCounts { dropped + droppedUnits }
}

extension DropCause {
    enum Recording {
        /// Not asked for: ``Recorder/write(_:)-(VideoFrame)`` and `render` do not throw.
        case ignored
        /// They throw.
        case refused
        /// Taken, and lost afterwards.
        case lost
    }

    /// What a recorder does with a frame that it drops for this cause.
    var recording: Recording {
        switch self {
        case .notStarted, .closed, .paused, .early: .ignored
        case .evicted, .unwritten: .lost
        case .queueFull, .notEnabled, .wrongBufferType, .badStride, .badSize, .undecodable,
            .needsKeyFrame, .noTime, .badTime, .backwards, .late, .badFormat, .processor, .failed,
            .notConnected, .lost, .muted, .frameRate:
            .refused
        }
    }
}

extension Recorder: FrameBalanceReporting {
    /// Returns the counts for the engine that feeds this recorder. Frames for which
    /// ``render(_:)-(VideoFrame)`` or ``render(_:)-(AudioFrame)`` throws are not included.
    public func frameBalance(of kind: MediaKind) -> FrameBalance {
        let report = self.report
        guard let track = kind == .video ? report.video : report.audio else {
            return FrameBalance()
        }
        var taken = track.balance
        for cause in DropCause.allCases where cause.recording == .refused {
            taken.offered -= taken.dropped[cause]
            taken.dropped[cause] = 0
        }
        return taken
    }
}
