/// Brings the units of several streams into the order of their times, as a muxer wants them.
///
/// A stream waits for the others as long as they may still bring something earlier; a live one not
/// longer than ``patience``, and none beyond ``limit`` bytes, so that a stream that never comes holds up
/// nothing for ever.
struct Interleaver {
    struct Released: Sendable {
        let unit: EncodedUnit
        /// Counts the encoders of all streams: where it changes, so does the format.
        let generation: Int
    }
    private struct Generation {
        let number: Int
        var units: [EncodedUnit] = []
        var isEnded = false
    }
    private struct Track {
        /// In order; the first is the one whose units come next.
        var generations: [Generation] = []
        var hasEnded = false
        /// Whether it is done for good: nothing will come.
        var isOver: Bool { hasEnded && generations.allSatisfy { $0.isEnded && $0.units.isEmpty } }
        var newest: MediaTime?
        /// Where the next unit begins at the earliest, by the end of the last that was taken.
        var reached: MediaTime?
    }
    private var tracks: [RecordingKind: Track]
    private var heldBytes = 0
    private var isFlushing = false
    /// How far one live stream may be behind another before it is not waited for.
    var patience: MediaTime?
    private static let limit = 64_000_000
    /// How long sound goes on after a picture's beginning while the next picture is not there, at most.
    private static let foresight = MediaTime(nanoseconds: 1_000_000_000)

    init(_ kinds: [RecordingKind]) {
        tracks = Dictionary(uniqueKeysWithValues: kinds.map { ($0, Track()) })
    }

    mutating func begin(_ kind: RecordingKind, generation: Int) {
        tracks[kind]?.generations.append(Generation(number: generation))
    }

    mutating func add(_ unit: EncodedUnit, generation: Int) {
        guard let place = place(unit.kind, generation) else { return }
        tracks[unit.kind]?.generations[place].units.append(unit)
        tracks[unit.kind]?.newest = unit.time
        heldBytes += unit.cost
    }

    mutating func end(_ kind: RecordingKind, generation: Int) {
        guard let place = place(kind, generation) else { return }
        tracks[kind]?.generations[place].isEnded = true
    }

    mutating func endTrack(_ kind: RecordingKind) { tracks[kind]?.hasEnded = true }

    /// Lets no stream wait for another any more.
    mutating func flush() {
        isFlushing = true
        for kind in tracks.keys {
            tracks[kind]?.hasEnded = true
            for place in tracks[kind]?.generations.indices ?? 0..<0 {
                tracks[kind]?.generations[place].isEnded = true
            }
        }
    }

    /// Whether every stream has ended and nothing is held.
    var isOver: Bool { tracks.values.allSatisfy(\.isOver) }

    func isOver(_ kind: RecordingKind) -> Bool { tracks[kind]?.isOver ?? true }

    /// The next unit of a stream, without taking it.
    func peek(_ kind: RecordingKind) -> EncodedUnit? {
        tracks[kind]?.generations.first { !$0.units.isEmpty || !$0.isEnded }?.units.first
    }

    /// Takes the next unit of a stream, whatever is due before it.
    mutating func take(early kind: RecordingKind) -> Released? {
        dropDone(kind)
        return take(kind)
    }

    /// The time of the last unit that came.
    func newest(_ kind: RecordingKind) -> MediaTime? { tracks[kind]?.newest }

    /// The next unit that lies before a stream's time in `times`, whatever is to be waited for.
    mutating func next(before times: [RecordingKind: MediaTime]) -> Released? {
        for kind in tracks.keys { dropDone(kind) }
        let heads = tracks.keys.compactMap { kind in peek(kind).map { (kind, $0) } }
            .filter { kind, unit in times[kind].map { unit.time < $0 } ?? false }
        return heads.min { $0.1.time < $1.1.time }.flatMap { take($0.0) }
    }

    /// The next unit; `nil` where it must be waited for.
    mutating func next(now: ContinuousClock.Instant = .now) -> Released? {
        for kind in tracks.keys { dropDone(kind) }
        let heads = tracks.keys.compactMap { kind in peek(kind).map { (kind, $0) } }
        guard let (kind, unit) = heads.min(by: { $0.1.time < $1.1.time }) else { return nil }
        let lacking = tracks.filter { peek($0.key) == nil && !$0.value.isOver }.map(\.value)
        guard
            lacking.isEmpty || isFlushing || isOverdue(unit, now)
                || (kind == .audio && lacking.allSatisfy { isBefore($0, unit) })
        else { return nil }
        return take(kind)
    }

    /// Whether sound comes before the next picture, although that is not there yet. The muxer has the
    /// picture before it, and writes that only once it sees sound behind it: held back here until the
    /// next picture, it would cost a killed process one picture more.
    private func isBefore(_ track: Track, _ unit: EncodedUnit) -> Bool {
        track.reached.map { unit.time < $0 } ?? false
    }

    /// By its time and by the clock: a recording may run faster than its time goes.
    private func isOverdue(_ unit: EncodedUnit, _ now: ContinuousClock.Instant) -> Bool {
        if heldBytes > Self.limit { return true }
        guard let patience, let newest = tracks[unit.kind]?.newest else { return false }
        return newest - unit.time > patience && MediaTime(now - unit.arrival) > patience
    }

    private mutating func take(_ kind: RecordingKind) -> Released? {
        guard let generation = tracks[kind]?.generations.first, let unit = generation.units.first
        else { return nil }
        tracks[kind]?.generations[0].units.removeFirst()
        heldBytes -= unit.cost
        tracks[kind]?.reached = min(unit.end, unit.time + Self.foresight)
        return Released(unit: unit, generation: generation.number)
    }

    private mutating func dropDone(_ kind: RecordingKind) {
        while let first = tracks[kind]?.generations.first, first.isEnded, first.units.isEmpty {
            tracks[kind]?.generations.removeFirst()
        }
    }

    private func place(_ kind: RecordingKind, _ generation: Int) -> Int? {
        tracks[kind]?.generations.firstIndex { $0.number == generation }
    }
}
