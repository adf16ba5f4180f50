extension RecordingCut {
    /// Whether everything before it has come.
    func isReached(by interleaver: Interleaver) -> Bool {
        awaited.allSatisfy { kind, time in
            interleaver.isOver(kind) || interleaver.newest(kind).map { $0 >= time } ?? false
        }
    }
}

/// On the writer's queue.
extension RecordingWriter {
    func begin(_ cut: RecordingCut) {
        guard phase == .recording else { return cut.done.open() }
        self.cut = cut
        pump()
    }

    /// What is to come before it does not, or has: the file ends, and units are kept again.
    func endCut() {
        guard let cut, phase == .recording else {
            self.cut?.done.open()
            self.cut = nil
            return
        }
        while let released = interleaver.next(before: cut.times) { route(released) }
        self.cut = nil
        closeFile()
        dropLead()
        if phase == .recording { phase = .keeping }
        completing = cut.done
        finishIfDone()
    }
}
