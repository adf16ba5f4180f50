internal import MediaBasics

/// Sorts the units of several streams by time, as a muxer requires.
///
/// A stream waits for the others while they may still deliver an earlier unit. The wait ends after
/// ``maximumWait`` if the streams are live, and when more than ``limit`` bytes are held: a stream
/// without data does not block the others. Sound waits ``pictureWait`` for pictures that have come
/// before. Copied sound that did not come during a wait is not waited for until it comes.
struct Interleaver {
    struct Released: Sendable {
        let unit: EncodedUnit
        /// Numbers the encoders of all streams: a new number means that the format has changed.
        let generation: Int
    }
    private struct Generation {
        let number: Int
        var units = Fifo<EncodedUnit>()
        var isEnded = false
    }
    private struct Track {
        /// In order; the units of the first are due next.
        var generations: [Generation] = []
        var hasEnded = false
        /// Whether no more units will come.
        var isOver: Bool { hasEnded && generations.allSatisfy { $0.isEnded && $0.units.isEmpty } }
        var newest: MediaTime?
        /// The earliest possible time of the next unit: the end of the last unit taken.
        var reached: MediaTime?
        /// Whether units have come, and the last wait for one of them did not end without one.
        var isExpected = false
        /// Whether its units are recorded as they came.
        var isCopy = false
        /// Of audio: how long pictures have arrived while no audio did.
        var silence = MediaTime.zero

        mutating func missAudio(for step: MediaTime) { silence = silence + step }
    }
    private var tracks: [RecordedStream: Track]
    private var heldBytes = 0
    private var isFlushing = false
    /// How far one live stream may be behind another before the other stops waiting for it.
    var maximumWait: MediaTime?
    /// How long live sound waits for expected pictures. After an interruption, sound may return some seconds
    /// before the pictures and fill the interruption at once. A muxer takes a limited number of these units
    /// without a picture.
    private static let pictureWait = MediaTime(nanoseconds: 6_000_000_000)
    private static let limit = 64_000_000
    private var lastPicture: Duration?
    /// The maximum that a pause between two pictures adds to ``Track/silence``: an interruption that delayed the
    /// pictures delayed the sound too.
    private static let longestStep = MediaTime(nanoseconds: 500_000_000)
    /// Upper limit for `reached` after the beginning of a unit: how long audio may continue after a
    /// picture while the next one is missing.
    private static let foresight = MediaTime(nanoseconds: 1_000_000_000)

    init(_ streams: [RecordedStream]) {
        tracks = Dictionary(uniqueKeysWithValues: streams.map { ($0, Track()) })
    }

    mutating func begin(_ stream: RecordedStream, generation: Int) {
        tracks[stream]?.generations.append(Generation(number: generation))
    }

    mutating func add(_ unit: EncodedUnit, generation: Int) {
        guard let place = place(unit.stream, generation) else { return }
        tracks[unit.stream]?.generations[place].units.append(unit)
        tracks[unit.stream]?.newest = unit.time
        tracks[unit.stream]?.isExpected = true
        heldBytes += unit.cost
        noteArrival(unit)
    }

    private mutating func noteArrival(_ unit: EncodedUnit) {
        switch unit.kind {
        case .audio:
            tracks[unit.stream]?.isCopy = unit.isCopy
            tracks[unit.stream]?.silence = .zero
        case .video:
            let step = min(
                lastPicture.map { MediaTime(unit.arrival - $0) } ?? .zero, Self.longestStep)
            for stream in tracks.keys { tracks[stream]?.missAudio(for: step) }
            lastPicture = unit.arrival
        }
    }

    /// Returns whether a live, copied audio stream has given nothing for as long as streams wait for each other, not
    /// even late audio, although pictures came.
    func isSilent(_ stream: RecordedStream) -> Bool {
        guard let maximumWait, stream.kind == .audio, let track = tracks[stream], track.isCopy
        else { return false }
        return track.silence > maximumWait && peek(stream) == nil
    }

    mutating func end(_ stream: RecordedStream, generation: Int) {
        guard let place = place(stream, generation) else { return }
        tracks[stream]?.generations[place].isEnded = true
    }

    mutating func endTrack(_ stream: RecordedStream) { tracks[stream]?.hasEnded = true }

    /// Whether pictures have come, but none for ``pictureWait``.
    var arePicturesLost: Bool {
        tracks[.video].map { $0.newest != nil && !$0.isExpected && !$0.isOver } ?? false
    }

    /// Stops all waiting of streams for each other.
    mutating func flush() {
        isFlushing = true
        for stream in tracks.keys {
            tracks[stream]?.hasEnded = true
            for place in tracks[stream]?.generations.indices ?? 0..<0 {
                tracks[stream]?.generations[place].isEnded = true
            }
        }
    }

    /// Whether every stream has ended and no units are held.
    var isOver: Bool { tracks.values.allSatisfy(\.isOver) }

    func isOver(_ stream: RecordedStream) -> Bool { tracks[stream]?.isOver ?? true }

    /// Returns the next unit of a stream without removing it.
    func peek(_ stream: RecordedStream) -> EncodedUnit? {
        tracks[stream]?.generations.first { !$0.units.isEmpty || !$0.isEnded }?.units.first
    }

    /// Removes and returns the next unit of a stream, even if other units are due before it.
    mutating func take(early stream: RecordedStream) -> Released? {
        dropDone(stream)
        return take(stream)
    }

    func newest(_ stream: RecordedStream) -> MediaTime? { tracks[stream]?.newest }

    /// Removes and returns the next unit that lies before its stream's time in `times`, without
    /// waiting for any stream.
    mutating func next(before times: [RecordedStream: MediaTime]) -> Released? {
        let heads = heads().filter { unit in times[unit.stream].map { unit.time < $0 } ?? false }
        return heads.min { ($0.time, $0.stream) < ($1.time, $1.stream) }.flatMap { take($0.stream) }
    }

    /// Removes and returns the next unit; `nil` if it must wait for another stream.
    ///
    /// - Parameter now: The present time of the units' arrivals.
    mutating func next(now: Duration) -> Released? {
        // Of units with the same time, the picture comes first.
        let first = heads().min { ($0.time, $0.stream) < ($1.time, $1.stream) }
        guard let unit = first else { return nil }
        let lacking = tracks.filter {
            peek($0.key) == nil && !$0.value.isOver && !isSilent($0.key)
        }
        // Without pictures a file may begin with this unit, and needs one of each stream.
        let hasPictures = tracks[.video]?.isOver == false
        if lacking.isEmpty || isFlushing
            || (unit.kind == .audio && hasPictures
                && lacking.values.allSatisfy { isBefore($0, unit) })
        {
            return take(unit.stream)
        }
        guard isOverdue(unit, now, expectsPictures: lacking[.video]?.isExpected == true) else {
            return nil
        }
        if lacking[.video] != nil { tracks[.video]?.isExpected = false }
        return take(unit.stream)
    }

    /// Returns whether an audio unit precedes the next unit of another stream, although that has not arrived yet.
    /// The muxer holds the picture before it, and writes that only when it gets later audio: if the
    /// audio were held back here until the next picture, a killed process would lose one picture
    /// more.
    private func isBefore(_ track: Track, _ unit: EncodedUnit) -> Bool {
        track.reached.map { unit.time < $0 } ?? false
    }

    /// Compares the time of the units and the clock: a recording may run faster than real time.
    private func isOverdue(
        _ unit: EncodedUnit, _ now: Duration, expectsPictures: Bool
    ) -> Bool {
        if heldBytes > Self.limit { return true }
        guard let maximumWait, let newest = tracks[unit.stream]?.newest else { return false }
        let wait = expectsPictures ? Self.pictureWait : maximumWait
        return newest - unit.time > wait && MediaTime(now - unit.arrival) > wait
    }

    private mutating func take(_ stream: RecordedStream) -> Released? {
        guard let number = tracks[stream]?.generations.first?.number,
            let unit = tracks[stream]?.generations[0].units.popFirst()
        else { return nil }
        heldBytes -= unit.cost
        tracks[stream]?.reached = min(unit.end, unit.time + Self.foresight)
        return Released(unit: unit, generation: number)
    }

    /// Returns the next unit of each stream.
    private mutating func heads() -> [EncodedUnit] {
        for stream in tracks.keys { dropDone(stream) }
        return tracks.keys.compactMap { peek($0) }
    }

    private mutating func dropDone(_ stream: RecordedStream) {
        while let first = tracks[stream]?.generations.first, first.isEnded, first.units.isEmpty {
            tracks[stream]?.generations.removeFirst()
        }
    }

    private func place(_ stream: RecordedStream, _ generation: Int) -> Int? {
        tracks[stream]?.generations.firstIndex { $0.number == generation }
    }
}

// MARK: - Units in memory

/// Keeps the last seconds of encoded frames: for the beginning of a later recording, and for
/// replays.
///
/// The length is a minimum, because a file begins with a key frame of the leading stream. The
/// content is bounded: units before the key frame that the file will begin with are evicted, and so
/// are units older than the length without a key frame before them, even if the leading stream has
/// no data at all, and units that exceed the memory.
struct RecentUnits {
    private let length: MediaTime
    private let leader: RecordedStream
    private let memory: Int
    private var units: [Interleaver.Released] = []
    /// The memory that the units occupy, in bytes.
    private(set) var cost = 0

    /// - Parameters:
    ///   - leader: The stream whose key frames begin files.
    ///   - memory: The maximum number of bytes.
    init(length: MediaTime, leader: RecordedStream, memory: Int = .max) {
        self.length = length
        self.leader = leader
        self.memory = memory
    }

    /// Adds a unit and evicts units that are too old. At least the length is kept, if enough was
    /// added and fits into the memory.
    ///
    /// - Returns: The evicted units.
    mutating func keep(_ unit: Interleaver.Released) -> [EncodedUnit] {
        units.append(unit)
        cost += unit.unit.cost
        let end = max(beginning(at: unit.unit.time - length), excess)
        guard end > 0 else { return [] }
        let evicted = units[..<end].map(\.unit)
        units.removeFirst(end)
        for unit in evicted { cost -= unit.cost }
        return evicted
    }

    /// Adds a unit, and evicts none.
    mutating func append(_ unit: Interleaver.Released) {
        units.append(unit)
        cost += unit.unit.cost
    }

    /// The oldest unit.
    var first: EncodedUnit? { units.first?.unit }

    /// Returns the oldest unit of a stream.
    func first(_ stream: RecordedStream) -> EncodedUnit? {
        units.first { $0.unit.stream == stream }?.unit
    }

    /// Whether a unit of the leading stream at or after a time was added: no key frame before it follows.
    func reaches(_ time: MediaTime) -> Bool {
        units.contains { $0.unit.stream == leader && $0.unit.time >= time }
    }

    /// Removes and returns the units before a time.
    mutating func take(before time: MediaTime) -> [Interleaver.Released] {
        remove(units.firstIndex { $0.unit.time >= time } ?? units.count)
    }

    /// Removes and returns the units before the last key frame at or before `horizon`.
    ///
    /// - Parameter continues: Whether the oldest unit continues a file: without such a key frame, none is removed.
    ///   Otherwise those are that no file can begin with.
    mutating func evict(before horizon: MediaTime, continues: Bool) -> [Interleaver.Released] {
        guard continues else { return remove(beginning(at: horizon)) }
        return remove(units.lastIndex { begins($0.unit) && $0.unit.time <= horizon } ?? 0)
    }

    /// Removes and returns the oldest units that do not fit into the memory.
    mutating func trim() -> [Interleaver.Released] { remove(excess) }

    private mutating func remove(_ count: Int) -> [Interleaver.Released] {
        guard count > 0 else { return [] }
        let removed = Array(units[..<count])
        units.removeFirst(count)
        for released in removed { cost -= released.unit.cost }
        return removed
    }

    /// The index of the last key frame at or before `horizon`; without one, of the first unit after
    /// it.
    private func beginning(at horizon: MediaTime) -> Int {
        var end = 0
        var isBegun = units.first.map { begins($0.unit) } ?? false
        for index in units.indices.dropFirst() {
            guard units[index - 1].unit.time <= horizon else { break }
            let begins = begins(units[index].unit) && units[index].unit.time <= horizon
            if begins || !isBegun { end = index }
            isBegun = isBegun || begins
        }
        return end
    }

    /// The number of oldest units to evict so that the others fit into the memory, and begin with a
    /// key frame if there is one.
    private var excess: Int {
        var (count, left) = (0, cost)
        while left > memory, count < units.count {
            left -= units[count].unit.cost
            count += 1
        }
        guard count > 0 else { return 0 }
        return units[count...].firstIndex { begins($0.unit) } ?? count
    }

    private func begins(_ unit: EncodedUnit) -> Bool { unit.stream == leader && unit.isKey }

    /// Removes and returns all units.
    mutating func takeAll() -> [Interleaver.Released] {
        defer { (units, cost) = ([], 0) }
        return units
    }

    /// Returns the last seconds, from a key frame on; all units if there are fewer.
    func last(_ length: MediaTime) -> [Interleaver.Released] {
        guard let newest = units.last else { return [] }
        return Array(units[beginning(at: newest.unit.time - length)...])
    }

    /// The time from the first unit to the end of the last.
    var span: MediaTime {
        guard let first = units.first, let last = units.last else { return .zero }
        return last.unit.end - first.unit.time
    }
}
