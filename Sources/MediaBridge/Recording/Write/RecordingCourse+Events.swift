/// Recordings around events: units are held until it is known whether a file is to contain them.
///
/// Only times decide, not which of a unit and a finding comes first, so that a recording of a file has the same files
/// each time. Thread: the writer's queue.
extension RecordingCourse {
    /// Holds a unit until the detectors have decided on it.
    func hold(_ released: Interleaver.Released) {
        preRoll.append(released)
        settle()
    }

    /// Whether what is found is recorded.
    var isArmed: Bool { wanted != nil && (phase == .recording || startMark != nil) }

    /// Takes what a detector has found.
    func decide(_ body: (inout WantedTimes) -> Void) {
        guard var wanted else { return }
        body(&wanted)
        // What is found while nothing is recorded is not wanted.
        if !isArmed { wanted.removeRanges() }
        self.wanted = wanted
        settle()
    }

    /// Whether it is known that a unit belongs to the file that is being written.
    func isDecided(_ unit: EncodedUnit) -> Bool {
        guard let wanted else { return true }
        return isInEvent && wanted.ranges.first.map { unit.time < $0.to } ?? false
    }

    /// Writes the held units that are wanted, and drops the others that are decided on.
    func settle() {
        guard phase == .recording, wanted != nil, cut == nil else { return }
        while advance() {}
        // Detectors that are so far behind decide on nothing: a file goes on, and nothing else is kept.
        guard preRoll.cost > writer.limits.replayMemory else { return }
        if isInEvent { write(preRoll.takeAll()) } else { drop(preRoll.trim()) }
    }

    /// Takes one step.
    ///
    /// - Returns: Whether there may be another one.
    private func advance() -> Bool {
        guard let wanted else { return false }
        let isLive = interleaver.maximumWait != nil
        let decided = wanted.decided(isLive: isLive)
        guard let range = wanted.ranges.first else {
            evict(before: decided)
            return false
        }
        guard isInEvent else {
            let isKnown = isLive || decided >= range.from
            evict(before: min(decided, range.from))
            guard isKnown, preRoll.reaches(range.from) || interleaver.isOver(streams[0])
            else { return false }
            evict(before: range.from)
            isInEvent = true
            return true
        }
        write(preRoll.take(before: range.to))
        // Units of this range may still come, and an earlier or longer one.
        guard decided >= range.to, preRoll.first != nil || interleaver.isOver else { return false }
        self.wanted?.removeFirst()
        isInEvent = false
        return true
    }

    /// Drops the units before the last key frame at or before a time. The file ends if they follow it.
    private func evict(before time: MediaTime) {
        let continues = writer.file != nil
        let evicted = preRoll.evict(before: time, continues: continues)
        guard !evicted.isEmpty else { return }
        if continues {
            writer.placeMarks(before: evicted[0].unit.time)
            writer.completeFile()
            dropLead()
        }
        drop(evicted)
    }

    private func drop(_ units: [Interleaver.Released]) {
        for released in units { progress.drop(released.unit, .early) }
    }

    /// Decides on all held units before a cut, or on all units, with what the detectors have found so far.
    ///
    /// - Parameter cut: The end of the recording; `nil` if the recorder ends, too.
    func settleAll(before cut: RecordingCut? = nil) {
        guard phase == .recording, var rest = wanted else { return }
        let held = preRoll.takeAll()
        for released in held where cut?.isBehind(released.unit) != true { preRoll.append(released) }
        wanted?.endAll()
        while advance() {}
        drop(preRoll.takeAll())
        isInEvent = false
        rest.removeRanges()
        wanted = rest
        for released in held where cut?.isBehind(released.unit) == true { preRoll.append(released) }
    }
}
