internal import MediaCore
internal import Synchronization

/// Runs the audio processors one after the other, on the thread that delivers the frame. Thread:
/// any, one frame at a time.
final class AudioProcessing: Sendable {
    /// Unchecked: only this object has the processor, and the track calls it for one frame at a
    /// time.
    private struct Hosted: @unchecked Sendable {
        let processor: any AudioProcessor
    }
    private let processors = Mutex<[Hosted]>([])
    private let events: EventHub
    private let isFailing = Atomic<Bool>(false)
    let drops = DropMeter()

    init(_ events: EventHub) { self.events = events }

    func set(_ next: sending [any AudioProcessor]) {
        let next = next.map { Hosted(processor: $0) }
        // The previous processors are released outside the lock.
        _ = processors.withLock { processors in
            defer { processors = next }
            return processors
        }
    }

    /// Runs the processors on a frame.
    ///
    /// - Returns: `nil` if the frame was dropped; the drop is counted.
    func process(_ frame: consuming AudioFrame) -> AudioFrame? {
        let processors = self.processors.withLock { $0 }
        var current: AudioFrame? = consume frame
        for processor in processors.map(\.processor) {
            guard let taken = current.take() else { break }
            do {
                current = try processor.process(consume taken)
                isFailing.store(false, ordering: .relaxed)
            } catch {
                // Only the first failure in a row is reported.
                if !isFailing.exchange(true, ordering: .relaxed) {
                    events.post(
                        .audioProcessorFailed(
                            EngineError(
                                .processorFailed, call: "process",
                                message: "\(type(of: processor)) failed; its frame is dropped",
                                underlying: error)))
                }
            }
        }
        if current == nil { drops.note(.processor) }
        return current
    }
}
