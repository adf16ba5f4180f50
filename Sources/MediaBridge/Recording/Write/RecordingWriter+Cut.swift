extension RecordingCut {
    /// Returns whether all units before the cut have arrived.
    func isReached(by interleaver: Interleaver) -> Bool {
        awaited.allSatisfy { kind, time in
            interleaver.isOver(kind) || interleaver.newest(kind).map { $0 >= time } ?? false
        }
    }
}

/// Thread: the writer's queue.
extension RecordingWriter {
    func begin(_ cut: RecordingCut) {
        guard phase == .recording || call != nil else { return cut.done.open() }
        self.cut = cut
        pump()
    }

    /// Ends the file at the cut, after the units before it have arrived or are not waited for any
    /// more. Later units go to the pre-roll again.
    func endCut() {
        if call != nil { start() }
        guard let cut, phase == .recording else {
            self.cut?.done.open()
            self.cut = nil
            return
        }
        while let released = interleaver.next(before: cut.times) {
            remember(released)
            route(released)
        }
        self.cut = nil
        closeFile()
        dropLead()
        if phase == .recording { phase = .keeping }
        completing = cut.done
        finishIfDone()
    }
}
