internal import MediaBasics

/// The boundary between recordings. Thread: the writer's queue.
extension RecordingCourse {
    func begin(_ cut: RecordingCut) {
        guard phase == .recording || startMark != nil else { return cut.done.open() }
        self.cut = cut
        pump()
    }

    /// Ends the file at the cut, after the units before it have arrived or are not waited for any
    /// more. Later units go to the pre-roll again.
    func endCut() {
        if startMark != nil { start() }
        guard let cut, phase == .recording else {
            self.cut?.done.open()
            self.cut = nil
            return
        }
        while let released = interleaver.next(before: cut.times) {
            remember(released)
            if wanted == nil { route(released) } else { preRoll.append(released) }
        }
        settleAll(before: cut)
        self.cut = nil
        dropLead()
        if phase == .recording { phase = .keeping }
        writer.end(opening: cut.done, isLast: false)
    }
}

extension RecordingCut {
    /// Returns whether all units before the cut have arrived.
    func isReached(by interleaver: Interleaver) -> Bool {
        awaited.allSatisfy { stream, time in
            interleaver.isOver(stream) || interleaver.newest(stream).map { $0 >= time } ?? false
        }
    }
}
