extension Recorder {
    /// Ends this recording and prepares the recorder for the next one: for events that get a file
    /// each.
    ///
    /// When this returns, the file is complete and contains every frame handed over before the
    /// call. Frames may continue to be handed over: with a pre-roll, the very next frame is its
    /// first, so that no frame is missing between two files and none is in both. ``start()`` begins
    /// the next file, whose name has a number: `out.mkv`, `out-00001.mkv` …. ``events`` continue;
    /// ``stop()`` ends the recorder.
    ///
    /// - Returns: The counts of all recordings so far, ended by ``RecorderReport/End/stop``.
    /// - Throws: ``PipelineError``: the error that made the recording fail, which ends the recorder
    ///   as well; ``PipelineError/Code/invalidState`` if it is not recording;
    ///   ``PipelineError/Code/noFrames`` if nothing was recorded, although the recorder is prepared
    ///   again.
    @discardableResult
    public func stopAndRearm() async throws(PipelineError) -> RecorderReport {
        let isRecording = phase.withLock { phase in
            guard phase == .recording else { return false }
            phase = .rearming
            return true
        }
        guard isRecording else {
            throw progressState.update { $0.failure }
                ?? PipelineError(
                    .invalidState, message: "this recorder is not recording",
                    advice: "start it first")
        }
        let keeps = configuration.keepsUnits
        let cut = RecordingCut(tracks.compactMapValues { $0.cut(goesOn: keeps) })
        if !keeps {
            pictures?.end()
            sound?.restart()
        }
        inbox.begin(cut)
        await complete(cut)
        let isArmed = phase.withLock { phase in
            if phase == .rearming { phase = .idle }
            return phase == .idle
        }
        if let failure = progressState.update({ $0.failure }) { throw failure }
        guard isArmed else { return report }
        if progressState.update({ $0.endRecording() }) == 0 {
            throw .nothingRecorded(path, offered: 0, dropped: nil)
        }
        var report = report
        report.ended = .stop
        return report
    }

    /// Waits for the file to be complete. A stream that makes no progress delays it by at most 1 s.
    private func complete(_ cut: RecordingCut) async {
        let moment = min(configuration.stallTimeout, .seconds(1))
        if await cut.done.wait(for: moment, on: clock) { return }
        inbox.endCut()
        if await cut.done.wait(for: configuration.stallTimeout) { return }
        giveUp()
        await complete()
    }
}
