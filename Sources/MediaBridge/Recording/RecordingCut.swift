/// The end of one recording of several: what was taken before it goes to the file, what comes after it is
/// kept for the next.
struct RecordingCut: Sendable {
    /// By stream: the first time that lies behind it.
    let times: [RecordingKind: MediaTime]
    /// By stream: what must have come until everything before it is there.
    private let awaited: [RecordingKind: MediaTime]
    /// Open when the file is complete.
    let done = Latch()

    static let instant = MediaTime(nanoseconds: 1)
    /// What encoders of sound have in hand at most.
    private static let block = MediaTime(nanoseconds: 200_000_000)

    /// - Parameter marks: By stream, the last frame that was taken and when the next is due.
    init(_ marks: [RecordingKind: (last: MediaTime, next: MediaTime)]) {
        var times: [RecordingKind: MediaTime] = [:]
        var awaited: [RecordingKind: MediaTime] = [:]
        let pictures = marks[.video]
        for (kind, mark) in marks {
            // Sound is heard until the next picture is seen.
            let end = kind == .audio ? pictures?.next : nil
            times[kind] = end ?? mark.last + Self.instant
            awaited[kind] =
                kind == .video ? mark.last : min(mark.last, end ?? mark.last) - Self.block
        }
        self.times = times
        self.awaited = awaited
    }

    func isBehind(_ unit: EncodedUnit) -> Bool { times[unit.kind].map { unit.time >= $0 } ?? true }

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
