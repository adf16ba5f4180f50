extension Recorder {
    /// Ends this recording, and arms the recorder again: for events, of which each gets a file.
    ///
    /// Every frame that was handed over before is in the file, which is complete when this returns. Frames
    /// go on to be handed over: where a pre-roll is kept, the very next one is the first of it, so that
    /// nothing lies between two files, and nothing is in both. ``start()`` begins the next file, which bears
    /// a number: `out.mkv`, `out-00001.mkv` …. ``events`` go on; ``stop()`` is the end.
    ///
    /// - Returns: The counts of all recordings so far.
    /// - Throws: ``PipelineError``: what made the recording fail, which ends the recorder, too;
    ///   ``PipelineError/Code/invalidState`` where it is not recording; ``PipelineError/Code/noFrames``
    ///   where nothing was recorded, though it is armed again.
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
                    advice: "start it before")
        }
        let keeps = configuration.preRoll != nil
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
        return report
    }

    /// Waits for the file; a stream that stands still holds it up for a moment only.
    private func complete(_ cut: RecordingCut) async {
        let moment = min(configuration.patience, .seconds(1))
        if await cut.done.wait(for: moment) { return }
        inbox.endCut()
        if await cut.done.wait(for: configuration.patience) { return }
        giveUp()
        await complete()
    }
}
