internal import MediaBasics

/// The boundary between two consecutive recordings: units before it go to the current file, units
/// after it are kept for the next.
struct RecordingCut: Sendable {
    /// By stream: the first time that belongs to the next recording.
    let times: [RecordingKind: MediaTime]
    /// By stream: the time that units must have reached until all units before the cut have
    /// arrived.
    let awaited: [RecordingKind: MediaTime]
    /// Opened when the file is complete.
    let done = Latch()

    static let instant = MediaTime(nanoseconds: 1)
    /// The longest duration of audio that an encoder holds back.
    private static let block = MediaTime(nanoseconds: 200_000_000)

    /// - Parameter marks: By stream, the time of the last frame taken and the time when the next is
    ///   due.
    init(_ marks: [RecordingKind: (last: MediaTime, next: MediaTime)]) {
        var times: [RecordingKind: MediaTime] = [:]
        var awaited: [RecordingKind: MediaTime] = [:]
        let pictures = marks[.video]
        for (kind, mark) in marks {
            // Audio continues until the next picture is due.
            let end = kind == .audio ? pictures?.next : nil
            times[kind] = end ?? mark.last + Self.instant
            awaited[kind] =
                kind == .video ? mark.last : min(mark.last, end ?? mark.last) - Self.block
        }
        self.times = times
        self.awaited = awaited
    }

    func isBehind(_ unit: EncodedUnit) -> Bool { times[unit.kind].map { unit.time >= $0 } ?? true }
}
