internal import MediaBasics
internal import Synchronization

/// The bounded way from encoders to the writer of the file: whoever brings a unit waits where the writer
/// is slow. What the program asks of the writer goes the same way, in order: a start that overtook units, or
/// that the end of the streams overtook, would cost the recording.
final class RecordingInbox: Sendable {
    enum Item: Sendable {
        /// An encoder begins: its units follow those of the track's encoder before it.
        case began(RecordingKind, generation: Int)
        case unit(EncodedUnit, generation: Int)
        /// An encoder has given its last unit.
        case ended(RecordingKind, generation: Int, PipelineError?)
        /// No encoder follows.
        case trackEnded(RecordingKind)
        /// The streams are live, and do not wait for each other for ever.
        case live
        case failed(PipelineError)
        /// What a track says of itself.
        case tags(RecordingKind, Tags)
        case start
        case cut(RecordingCut)
        case endCut
        /// Nothing more comes of those who are late.
        case flush
    }

    /// A structure of its own: a mutex of a bare closure gives it out by way of a thunk and puts it back
    /// by way of another, at every look, so that it becomes slower to call and to free each time.
    private struct Outlet { var body: (@Sendable () -> Void)? }

    private let items = Mutex<[Item]>([])
    private let room = BackpressureGate(depth: 64)
    private let generations = Atomic<Int>(0)
    private let lost = Mutex<[RecordingKind: Int]>([:])
    private let isDrainScheduled = Atomic<Bool>(false)
    private let queue: SerialQueue
    private let outlet = Mutex(Outlet())

    /// - Parameter queue: Where the writer lives.
    init(queue: SerialQueue) { self.queue = queue }

    /// Calls `body` on the writer's queue when there are items.
    func onItems(_ body: @escaping @Sendable () -> Void) { outlet.withLock { $0.body = body } }

    /// What a new encoder of a track reports to.
    func receiver(for kind: RecordingKind) -> TrackEncoder.Receiver {
        let generation = generations.add(1, ordering: .relaxed).newValue
        put(.began(kind, generation: generation))
        return TrackEncoder.Receiver(
            unit: { [self] unit in
                guard
                    room.hasRoomByCount || room.waitOnThread(level: { items.withLock { $0.count } })
                else { return lost.withLock { $0[kind, default: 0] += 1 } }
                put(.unit(unit, generation: generation))
            },
            end: { [self] error in put(.ended(kind, generation: generation, error)) })
    }

    func trackEnded(_ kind: RecordingKind) { put(.trackEnded(kind)) }

    func isLive() { put(.live) }

    func fail(_ error: PipelineError) { put(.failed(error)) }

    func note(_ tags: Tags, of kind: RecordingKind) { put(.tags(kind, tags)) }

    func start() { put(.start) }

    func begin(_ cut: RecordingCut) { put(.cut(cut)) }

    func endCut() { put(.endCut) }

    func flush() { put(.flush) }

    /// Units that nobody waited for any more.
    func lost(_ kind: RecordingKind) -> Int { lost.withLock { $0[kind, default: 0] } }

    /// Whether units wait for the writer.
    var isFilling: Bool { items.withLock { !$0.isEmpty } }

    /// The recording is over: lets go of the writer.
    func close() {
        room.close()
        outlet.withLock { $0.body = nil }
    }

    /// Lets go of encoders that wait; their units are lost.
    func abandon() { room.close() }

    private func put(_ item: Item) {
        items.withLock { $0.append(item) }
        if case .unit = item { room.entered() }
        guard !isDrainScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isDrainScheduled.store(false, ordering: .releasing)
            outlet.withLock { $0.body }?()
        }
    }

    /// Takes everything that waits. On the writer's queue.
    func takeAll() -> [Item] {
        let taken = items.withLock { items in
            defer { items = [] }
            return items
        }
        for item in taken { if case .unit = item { room.departed() } }
        return taken
    }
}
