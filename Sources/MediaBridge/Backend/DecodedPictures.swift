internal import Dispatch
internal import Synchronization

/// From a decoder's pipeline to the consumer: each picture with the time and the rotation of its unit.
final class DecodedPictures: CaptureReceiver {
    private let ledger: PendingAccessUnits
    let consumer: any VideoFrameConsumer
    private let isClosed = Atomic<Bool>(false)
    private let delivered = Atomic<Int>(0)
    /// Waits for the end.
    private let ending = Mutex<DispatchSemaphore?>(nil)

    init(_ ledger: PendingAccessUnits, to consumer: any VideoFrameConsumer) {
        self.ledger = ledger
        self.consumer = consumer
    }

    /// Delivers no more.
    func close() { isClosed.store(true, ordering: .sequentiallyConsistent) }

    /// Pictures delivered so far.
    var count: Int { delivered.load(ordering: .relaxed) }

    /// What tells of the end, or of an error, that comes next.
    func expectEnd() -> DispatchSemaphore {
        let semaphore = DispatchSemaphore(value: 0)
        ending.withLock { $0 = semaphore }
        return semaphore
    }

    /// No picture follows in this run.
    func ended() { ending.withLock { $0 }?.signal() }

    func receive(_ frame: consuming VideoFrame) {
        var picture = frame
        guard let unit = ledger.unit(of: picture),
            !isClosed.load(ordering: .sequentiallyConsistent)
        else { return }
        picture.runningTime = unit.time
        picture.rotation = unit.rotation
        // Made up by the decoder: nobody said how long the picture stays.
        picture.duration = nil
        delivered.add(1, ordering: .relaxed)
        consumer.consume(picture)
    }

    func receive(_ sample: MediaSample) {}

    func branchEnded(losing loss: PipelineError?) { ended() }
}
