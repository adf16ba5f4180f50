internal import MediaBasics
internal import Synchronization

/// The bounded queue from the encoders to the writer of the file: encoders block while the writer
/// is slow. The program's requests to the writer go through the same queue, in order: a start that
/// overtook units, or that was overtaken by the end of the streams, would lose the recording.
final class RecordingInbox: Sendable {
    enum Item: Sendable {
        /// A new encoder: its units follow those of the track's previous encoder.
        case began(RecordedStream, generation: Int)
        case unit(EncodedUnit, generation: Int)
        /// An encoder has delivered its last unit, or has failed.
        case ended(RecordedStream, generation: Int, PipelineError?)
        /// The track will have no further encoder.
        case trackEnded(RecordedStream)
        /// The streams are live, so the time they wait for each other is limited.
        case live
        /// What happened to a track, for the program.
        case event(RecorderEvent)
        case failed(PipelineError)
        /// The tags of a track.
        case tags(RecordedStream, Tags)
        /// The time of the last frame before the start; `nil` if there was none.
        case start(at: MediaTime?)
        /// A mark at the time of the last frame before it.
        case mark(String, at: MediaTime)
        /// The next file begins with the first key frame after a time.
        case split(after: MediaTime)
        /// Whether a detector found its state at a time, and whether an event begins there.
        case state(String, isPresent: Bool, begins: Bool, at: MediaTime)
        /// A detector has ended, or has failed.
        case stateEnded(String, hasFailed: Bool)
        case cut(RecordingCut)
        case endCut
        /// Streams that are late are not waited for any more.
        case flush
    }

    /// A struct, because a `Mutex` of a bare closure wraps the closure in a thunk when it is read
    /// and in another when it is stored back, at every access, so that calling and releasing it
    /// become slower each time.
    private struct Outlet { var body: (@Sendable () -> Void)? }

    private let items = Mutex<[Item]>([])
    private let gate = BackpressureGate()
    private let generations = Atomic<Int>(0)
    private let lost = Mutex<[RecordedStream: Int]>([:])
    private let isDrainScheduled = Atomic<Bool>(false)
    private let queue: SerialQueue
    /// Measures when units arrive.
    let clock: any Timeline
    private let outlet = Mutex(Outlet())

    /// - Parameters:
    ///   - queue: The queue that the writer runs on.
    ///   - clock: Measures when units arrive.
    init(queue: SerialQueue, clock: any Timeline = .system) {
        (self.queue, self.clock) = (queue, clock)
        gate.setLimit(QueueLimit(buffers: 64))
    }

    /// Calls `body` on the writer's queue when there are items.
    func onItems(_ body: @escaping @Sendable () -> Void) { outlet.withLock { $0.body = body } }

    /// Notes a new encoder of a track.
    ///
    /// - Returns: The number of its generation.
    func begin(_ stream: RecordedStream) -> Int {
        let generation = generations.add(1, ordering: .relaxed).newValue
        put(.began(stream, generation: generation))
        return generation
    }

    /// Passes a unit to the writer. Blocks while too many wait. Thread: an encoder's streaming
    /// thread.
    func put(_ unit: EncodedUnit, generation: Int) {
        // Not by the number of items: a mark is one, too, and its departure does not wake a thread that waits.
        guard gate.hasRoomByCount || gate.waitOnThread(level: { gate.levelByCount })
        else { return lost.withLock { $0[unit.stream, default: 0] += 1 } }
        put(.unit(unit, generation: generation))
    }

    /// Number of units lost because the inbox was closed.
    func lost(_ stream: RecordedStream) -> Int { lost.withLock { $0[stream, default: 0] } }

    /// Whether units wait for the writer.
    var isFilling: Bool { items.withLock { !$0.isEmpty } }

    /// Closes the inbox at the end of the recording, and releases the writer.
    func close() {
        gate.close()
        outlet.withLock { $0.body = nil }
    }

    /// Unblocks encoders that wait for room; their units are lost.
    func abandon() { gate.close() }

    /// Passes an item to the writer. Thread: any; never blocks.
    func put(_ item: Item) {
        items.withLock { items in
            items.append(item)
            // Under the lock, because the encoders of two streams count.
            if case .unit = item { gate.entered() }
        }
        guard !isDrainScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isDrainScheduled.store(false, ordering: .releasing)
            outlet.withLock { $0.body }?()
        }
    }

    /// Removes and returns all items. Thread: the writer's queue.
    func takeAll() -> [Item] {
        let taken = items.exchange([])
        for item in taken { if case .unit = item { gate.departed() } }
        return taken
    }
}

/// The boundary between two consecutive recordings: units before it go to the current file, units
/// after it are kept for the next.
struct RecordingCut: Sendable {
    /// By stream: the first time that belongs to the next recording.
    let times: [RecordedStream: MediaTime]
    /// By stream: the time that units must have reached until all units before the cut have
    /// arrived.
    let awaited: [RecordedStream: MediaTime]
    /// Opened when the file is complete.
    let done = Latch()

    static let instant = MediaTime(nanoseconds: 1)
    /// The longest duration of audio that an encoder holds back.
    private static let block = MediaTime(nanoseconds: 200_000_000)

    /// - Parameter marks: By stream, the time of the last frame taken and the time when the next is
    ///   due.
    init(_ marks: [RecordedStream: (last: MediaTime, next: MediaTime)]) {
        var times: [RecordedStream: MediaTime] = [:]
        var awaited: [RecordedStream: MediaTime] = [:]
        let pictures = marks[.video]
        for (stream, mark) in marks {
            // Audio continues until the next picture is due.
            let end = stream.kind == .audio ? pictures?.next : nil
            times[stream] = end ?? mark.last + Self.instant
            awaited[stream] =
                stream == .video ? mark.last : min(mark.last, end ?? mark.last) - Self.block
        }
        self.times = times
        self.awaited = awaited
    }

    func isBehind(_ unit: EncodedUnit) -> Bool {
        times[unit.stream].map { unit.time >= $0 } ?? true
    }
}
