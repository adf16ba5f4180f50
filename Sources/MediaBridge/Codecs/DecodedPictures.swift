internal import MediaBasics
internal import Synchronization

/// Passes pictures from a decoder's pipeline to the consumer, each with the time and the rotation
/// of its unit.
final class DecodedPictures: CaptureReceiver {
    private let ledger: PendingAccessUnits
    let consumer: any VideoFrameConsumer
    private let isClosed = Atomic<Bool>(false)
    private let delivered = Atomic<Int>(0)
    private let isBusy = Atomic<Bool>(false)
    /// Signalled at the end of the run.
    private let ending = Mutex<MonotonicSignal?>(nil)

    init(_ ledger: PendingAccessUnits, to consumer: any VideoFrameConsumer) {
        self.ledger = ledger
        self.consumer = consumer
    }

    /// Stops the delivery to the consumer.
    func close() { isClosed.store(true, ordering: .sequentiallyConsistent) }

    /// Pictures delivered so far.
    var count: Int { delivered.load(ordering: .relaxed) }

    /// Whether the consumer holds a picture at this moment.
    var isDelivering: Bool { isBusy.load(ordering: .relaxed) }

    /// Returns what is signalled at the next end of stream, or at the next error.
    func expectEnd() -> MonotonicSignal {
        let signal = MonotonicSignal()
        ending.withLock { $0 = signal }
        return signal
    }

    /// Called when no more pictures follow in this run.
    func ended() { ending.withLock { $0 }?.signal() }

    func receive(_ frame: consuming VideoFrame) {
        var picture = frame
        // A unit whose picture is not delivered stays pending, and the stop counts it as lost.
        guard !isClosed.load(ordering: .sequentiallyConsistent),
            let unit = ledger.unit(of: picture)
        else { return }
        picture.runningTime = unit.time
        picture.rotation = unit.rotation
        picture.liveTiming = unit.live
        // The decoder invented the duration: the stream does not contain one.
        picture.duration = nil
        isBusy.store(true, ordering: .relaxed)
        consumer.consume(picture)
        isBusy.store(false, ordering: .relaxed)
        delivered.add(1, ordering: .relaxed)
    }

    func receive(_ sample: MediaSample) {}

    func branchEnded(losing loss: PipelineError?) { ended() }
}
