internal import MediaBasics
internal import Synchronization

/// A request to a writer for the units that it keeps for replays.
final class ReplayRequest: Sendable {
    struct Content: Sendable {
        var units: [Interleaver.Released] = []
        var tags: [RecordingKind: Tags] = [:]
    }
    let length: MediaTime
    private let content = Mutex(Content())
    private let isAnswered = Latch()

    init(last length: MediaTime) { self.length = length }

    func answer(_ content: Content) {
        self.content.withLock { $0 = content }
        isAnswered.open()
    }

    /// Waits for the reply.
    ///
    /// - Returns: `nil` if it does not arrive in time.
    func answer(within limit: Duration) async -> Content? {
        guard await isAnswered.wait(for: limit) else { return nil }
        return content.withLock { $0 }
    }
}

/// Thread: the writer's queue.
extension RecordingWriter {
    /// Keeps a unit for replays, independently of its use in the recording.
    func remember(_ released: Interleaver.Released) {
        guard var recent = replay.take() else { return }
        _ = recent.keep(released)
        let (span, cost) = (recent.span, recent.cost)
        replay = recent
        progress.update { $0.replay = RecorderReport.Replay(duration: span.duration, bytes: cost) }
    }

    /// Answers a request with what is kept. Thread: any.
    func ask(_ request: ReplayRequest) {
        queue.async { [self] in
            request.answer(
                ReplayRequest.Content(units: replay?.last(request.length) ?? [], tags: tags))
        }
    }

    /// Writes units as a recording that has ended. Call it before any other.
    func write(_ content: ReplayRequest.Content) {
        let units = content.units.sorted { $0.unit.time < $1.unit.time }
        var items: [RecordingInbox.Item] = [.start(at: nil)]
        items += content.tags.map { .tags($0, $1) }
        var ends: [RecordingInbox.Item] = []
        for kind in kinds {
            var generations: [Int] = []
            for unit in units
            where unit.unit.kind == kind && !generations.contains(unit.generation) {
                generations.append(unit.generation)
            }
            items += generations.map { .began(kind, generation: $0) }
            ends += generations.map { .ended(kind, generation: $0, nil) } + [.trackEnded(kind)]
        }
        items += units.map { .unit($0.unit, generation: $0.generation) }
        handle(items + ends)
    }
}
