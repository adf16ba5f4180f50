internal import MediaBasics

/// Writes units to the current file. Thread: the writer's queue.
extension RecordingWriter {
    func write(_ unit: EncodedUnit) {
        guard let file else { return progress.drop(unit, .unwritten) }
        feed(file, beside: unit.kind)
        // The muxer may take the last unit of another stream, and wait for the next one, while this
        // one's queue is full already.
        var pauses = 0
        var written = file.writtenUnits
        while file.isFull(unit.kind) {
            MonotonicSignal.pause(for: .milliseconds(2))
            feed(file, beside: unit.kind)
            pauses += 1
            if file.writtenUnits != written { (pauses, written) = (0, file.writtenUnits) }
            // The muxer does not take units in the order of their times.
            if pauses == 1000 { file.lacking(beside: unit.kind).forEach { file.end($0) } }
        }
        push(unit, to: file)
    }

    /// Gives the muxer the units that it waits for while those of `kind` fill its queue; otherwise
    /// it would wait forever, and nothing would be written. A stream that has no unit, or none for
    /// this file, is ended in this file.
    private func feed(_ file: RecordingFile, beside kind: RecordingKind) {
        for lacking in file.starving(beside: kind) {
            if let unit = takeEarly(lacking, for: file) {
                push(unit, to: file)
            } else {
                file.end(lacking)
            }
        }
    }

    /// Removes and returns the next unit of a stream out of order, if it belongs to this file.
    private func takeEarly(_ kind: RecordingKind, for file: RecordingFile) -> EncodedUnit? {
        if let place = opening.firstIndex(where: { $0.kind == kind }) {
            return opening.remove(at: place)
        }
        func belongs(_ unit: EncodedUnit) -> Bool {
            file.holds(unit) && !segment.isReached(at: unit) && wantsNewFile == nil
                && cut?.isBehind(unit) != true
        }
        if let place = upcoming.firstIndex(where: { $0.unit.kind == kind }) {
            guard belongs(upcoming[place].unit) else { return nil }
            return upcoming.remove(at: place).unit
        }
        guard let unit = interleaver.peek(kind), belongs(unit) else { return nil }
        guard let released = interleaver.take(early: kind) else { return nil }
        remember(released)
        return released.unit
    }

    private func push(_ unit: EncodedUnit, to file: RecordingFile) {
        guard file.push(unit) else {
            progress.drop(unit, .unwritten)
            if progress.hasFailed { phase = .failed }
            return
        }
        segment.add(unit)
        guardian.add(unit)
        progress.update { $0.moved += 1 }
        if guardian.isShort(of: unit.byteCount) {
            if !removeOldest() { end(guardian.free) }
        }
    }
}
