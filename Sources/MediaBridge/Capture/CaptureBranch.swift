internal import Dispatch
internal import MediaBasics
internal import Synchronization

/// One appsink of a capture, and the delivery of its samples to the program.
final class CaptureBranch: Sendable {
    /// The name of the branch for users: `video`, `audio` ….
    let name: String
    let sink: AppSink

    private let isDrainScheduled = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let lost = Mutex<PipelineError?>(nil)
    private let isEndReported = Atomic<Bool>(false)
    /// Whether the capture may have no such stream.
    let isOptional: Bool
    /// Incremented by each reset, so that the end of one run is not reported in the next.
    private let run = Atomic<Int>(0)
    private let queue: SerialQueue
    /// The jobs that wait or run on ``queue``.
    private let jobs = Atomic<Int>(0)
    /// Held while samples are delivered.
    private let delivery = Mutex<Void>(())
    let translation: SampleTranslation
    /// Whether the string itself limits the appsink's queue.
    private let isLimited: Bool
    /// Tags of the stream that no receiver has got yet.
    private let pendingTags = Mutex<[Tags]>([])

    enum Mode: Sendable {
        case idle
        case push(any MediaReceiver)
        case pull(@Sendable () -> Void)
        case discard
        /// The capture is being started again; until then samples are discarded.
        case suspended(any MediaReceiver)
        /// A reader exists but has not begun: a capture that is not live waits for it.
        case hold(DispatchSemaphore)
    }
    let mode = Mutex<Mode>(.idle)

    /// Changes the mode, and wakes a streaming thread that waits for the change.
    private func enter(_ next: Mode) {
        let before = mode.exchange(next)
        if case .hold(let change) = before { change.signal() }
    }

    init(
        name: String, sink: AppSink, depth: Int, isPaced: Bool, times: ContinuedTimes,
        isOptional: Bool
    ) {
        self.name = name
        self.isOptional = isOptional
        self.sink = sink
        queue = SerialQueue(label: "mediabridge.delivery.\(name)")
        translation = SampleTranslation(name, sink, times: times)
        isLimited = sink.depth > 0
        sink.configure(depth: depth, isPaced: isPaced)
        let pad = sink.element.pad("sink")
        pad?.onOrientation { [weak self] in self?.turned($0) }
        pad?.onTags { [weak self] in self?.take($0) }
    }

    /// Delivers samples to `receiver` as they arrive, and the end of the stream if it has come
    /// already.
    func push(to receiver: any MediaReceiver) {
        reportTags(receiver)
        enter(.push(receiver))
        reportTags(receiver)
        if hasEnded.load(ordering: .acquiring) { reportEnd(receiver) }
    }

    /// Stops delivery and releases the receiver.
    func disconnect() { enter(.idle) }

    /// Makes the streaming thread of a capture that is not live wait until a reader begins. Any
    /// other mode ends the wait.
    func hold() { enter(.hold(DispatchSemaphore(value: 0))) }

    /// Calls `onArrival` when a sample, the end of the stream or an error has come; ``tryPull()``
    /// takes the sample.
    func pull(onArrival: @escaping @Sendable () -> Void) {
        enter(.pull(onArrival))
    }

    /// Connects the branch to its appsink. `onFirstSample` runs on the streaming thread, before the
    /// first sample of the branch is delivered, and returns the live timing, `nil` if the capture
    /// is not live. From here on the appsink and the branch retain each other, until ``sever()``: a
    /// weak reference would cost time for every frame.
    func connect(onFirstSample: @escaping @Sendable (CaptureBranch) -> LiveTiming?) {
        sink.setHandlers(
            onSample: { [self] in
                sampleArrived(onFirstSample)
                return true
            },
            onEnd: { [self] in end() })
    }

    /// Disconnects the branch from its appsink.
    func sever() {
        enter(.idle)
        sink.removeHandlers()
    }

    /// Resets counts and state of an earlier run.
    func reset() {
        translation.reset()
        pendingTags.withLock { $0 = [] }
        beginRun()
    }

    private func beginRun() {
        run.add(1, ordering: .releasing)
        lost.withLock { $0 = nil }
        hasEnded.store(false, ordering: .releasing)
        isEndReported.store(false, ordering: .releasing)
    }

    /// Blocks until the receiver has taken the sample that is being delivered, and with it the work
    /// that waits on the delivery queue. Does nothing on that queue itself.
    func finishDelivery() { if !queue.isCurrent { queue.sync {} } }

    /// Delivers the waiting samples of a live capture, and discards all samples after them until
    /// ``goOn()``.
    func suspend() async {
        await withCheckedContinuation { continuation in
            enqueue { [self] in
                if case .push(let receiver) = mode.withLock({ $0 }) {
                    drain(to: receiver)
                    enter(.suspended(receiver))
                    discardWaiting()
                }
                continuation.resume()
            }
        }
    }

    /// Delivers samples again after ``suspend()``, in a run whose counts continue those of the last.
    func resumeDelivery() {
        guard case .suspended(let receiver) = mode.withLock({ $0 }) else { return }
        translation.orientation.reset()
        beginRun()
        receiver.streamWasInterrupted()
        push(to: receiver)
    }

    /// Whether its capture is live, as far as that is known.
    var isLive: Bool { translation.isLive }

    /// Samples that arrived at the appsink in this run.
    var arrivedSamples: Int { translation.arrived.value }

    /// Discards the samples that wait and that follow, if the capture is live. A file has delivered
    /// all that it read.
    func discardIfLive() { if translation.isLive { discard() } }

    /// Whether the stream has ended and every sample has been taken, or whether it was lost: further
    /// samples of a lost stream have no receiver, and its end may never arrive.
    var isFinished: Bool {
        hasEnded.load(ordering: .acquiring)
            && (arrivedSamples == 0 || sink.isEnded || loss != nil)
    }

    /// Wakes a reader, so that it checks for the end of the stream or an error.
    func wake() {
        if case .pull(let onArrival) = mode.withLock({ $0 }) { onArrival() }
    }

    /// Discards the samples that wait and all that follow, because they come after the stop.
    /// Without this, a capture that waits for a reader could not change its state.
    func discard() {
        enter(.discard)
        discardWaiting()
    }

    private func discardWaiting() {
        while translation.pull(isDiscarding: true) != nil {}
    }

    /// Ends the branch because its stream will never come; `error` says why.
    func end(losing error: @autoclosure () -> PipelineError) {
        if !isEnded { lose(error()) }
    }

    private func lose(_ error: PipelineError) {
        lost.withLock { if $0 == nil { $0 = error } }
        end()
    }

    /// Why the stream never came in this run; `nil` if it came or is still expected.
    var loss: PipelineError? { lost.withLock { $0 } }

    /// Whether the capture has no such stream, and need not have one.
    var isAbsent: Bool { isOptional && isEnded && arrivedSamples == 0 }

    /// Whether no more samples come out of the pipeline.
    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    // MARK: On the streaming thread

    private func sampleArrived(_ onFirstSample: (CaptureBranch) -> LiveTiming?) {
        if translation.arrived.add() == 1 {
            let live = onFirstSample(self)
            deepen(isLive: live != nil)
            sink.dropsOldest = live != nil
            translation.begin(live)
        }
        deliver()
    }

    /// Lets more samples wait if the stream's are small, unless the string limits them.
    private func deepen(isLive: Bool) {
        guard !isLimited, let caps = sink.element.pad("sink")?.caps else { return }
        if isLive, !caps.isRaw {
            sink.deepen(to: QueueDepth.encoded)
        } else if caps.isSound {
            sink.deepen(to: QueueDepth.sound)
        }
    }

    private func deliver() {
        switch mode.withLock({ $0 }) {
        case .idle: break
        case .hold(let change):
            guard !translation.isLive else { break }
            change.wait()
            deliver()
        case .discard, .suspended: discardWaiting()
        case .pull(let onArrival): onArrival()
        case .push(let receiver):
            if translation.isLive {
                if !receiver.takesAtOnce || !deliverAtOnce(to: receiver) {
                    scheduleDrain(receiver)
                }
            } else {
                deliverArrived(to: receiver)
            }
        }
    }

    private func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        switch mode.withLock({ $0 }) {
        case .idle, .discard, .suspended, .hold: break
        case .pull(let onArrival): onArrival()
        case .push(let receiver): reportEnd(receiver)
        }
    }

    /// Reports the end to the receiver, once per run: the end may come while a receiver is being
    /// connected.
    private func reportEnd(_ receiver: any MediaReceiver) {
        guard !isEndReported.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let run = self.run.load(ordering: .acquiring)
        enqueue { [self] in
            guard run == self.run.load(ordering: .acquiring) else { return }
            drain(to: receiver)
            receiver.streamEnded(loss.map { .missing($0) } ?? .complete)
        }
    }

    /// Runs `body` on the delivery queue, after the waiting frames of a live capture were
    /// delivered. Does nothing if the next run has begun by then. Thread: any.
    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        let run = self.run.load(ordering: .acquiring)
        enqueue { [self] in
            guard run == self.run.load(ordering: .acquiring) else { return }
            if translation.isLive, case .push(let receiver) = mode.withLock({ $0 }) {
                drain(to: receiver)
            }
            body()
        }
    }

    /// Handles new tags. Called before the samples that they apply to.
    private func take(_ tags: Tags) {
        // The frames were rotated already and would be rotated once more.
        let isTurned = tags["image-orientation"] != nil && sink.isTurnedByTag
        guard let tags = isTurned ? tags.removing(["image-orientation"]) : tags else { return }
        pendingTags.withLock { $0.append(tags) }
        guard case .push(let receiver) = mode.withLock({ $0 }) else { return }
        guard translation.isLive else { return reportTags(receiver) }
        afterDelivery { [self] in reportTags(receiver) }
    }

    /// Delivers the waiting tags in order, under the lock: the receiver must not block.
    private func reportTags(_ receiver: any MediaReceiver) {
        pendingTags.withLock { tags in
            tags.forEach { receiver.receive($0) }
            tags = []
        }
    }

    /// Handles a new orientation. Called before the frames that it applies to.
    private func turned(_ orientation: ImageOrientation) {
        var rotation = VideoRotation(rawValue: orientation.degrees) ?? .upright
        if rotation != .upright, sink.isTurnedByTag { rotation = .upright }
        translation.orientation.change(to: rotation, from: arrivedSamples)
    }

    private func scheduleDrain(_ receiver: any MediaReceiver) {
        guard !isDrainScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        enqueue { [self] in
            isDrainScheduled.store(false, ordering: .releasing)
            drain(to: receiver)
        }
    }

    private func enqueue(_ body: @escaping @Sendable () -> Void) {
        jobs.add(1, ordering: .acquiringAndReleasing)
        queue.async { [self] in
            body()
            jobs.subtract(1, ordering: .acquiringAndReleasing)
        }
    }

    /// Delivers the samples of a live capture on the streaming thread, to a receiver that does not block. This saves
    /// the change to another thread.
    ///
    /// - Returns: False if the delivery queue has to deliver them, in order with what it has to do before.
    private func deliverAtOnce(to receiver: any MediaReceiver) -> Bool {
        guard jobs.load(ordering: .acquiring) == 0 else { return false }
        return delivery.withLockIfAvailable { _ in deliverAll(to: receiver) } != nil
    }

    private func drain(to receiver: any MediaReceiver) {
        delivery.withLock { _ in deliverAll(to: receiver) }
    }

    private func deliverAll(to receiver: any MediaReceiver) {
        while let sample = translation.pull() { deliver(sample, to: receiver) }
    }

    /// Delivers all samples that have arrived. The appsink of a file drops nothing, so the counts
    /// say how many wait; no extra pull is needed to find the queue empty.
    private func deliverArrived(to receiver: any MediaReceiver) {
        while translation.takenSamples < arrivedSamples, let sample = translation.pull() {
            deliver(sample, to: receiver)
        }
    }

    private func deliver(_ sample: consuming Sample, to receiver: any MediaReceiver) {
        guard sample.capsIdentity != nil || receiver.takesBytes else { return refuseBytes() }
        translation.deliver(sample, to: receiver)
    }

    // MARK: Taking samples

    /// Ends the branch because it delivers bytes without caps, as a file source does, and the
    /// receiver cannot determine their format. The stream itself may have ended before they are
    /// read.
    private func refuseBytes() {
        lose(
            PipelineError(
                .streamFailed,
                message: "the stream \"\(sink.element.name)\" carries bytes without caps: their "
                    + "format is unknown",
                advice: "add a parser such as rawvideoparse or rawaudioparse, a demuxer or "
                    + "decodebin to the capture"))
    }

    /// Returns the next frame or sample if one waits, otherwise `nil`; never blocks. One caller at
    /// a time.
    func tryPull() -> SampleTranslation.Item? {
        while let sample = translation.pull() {
            if sample.capsIdentity == nil {
                refuseBytes()
            } else if let item = translation.translate(sample) {
                return item
            }
        }
        return nil
    }
}

/// Fills the appsrcs of a capture's string: with media that no element brings, such as that of a server with
/// which a session has to be agreed on first.
package protocol CaptureFeed: AnyObject, Sendable {
    /// Called once with the capture's pipeline, before it runs. The feed follows the pipeline's states
    /// (``GStreamer/Pipeline/onMessage(_:)``): it pushes while that is playing, and may be played several times.
    /// It must not retain the pipeline.
    func attach(to pipeline: Pipeline)

    /// Returns the frames that arrived for a stream in this run and did not enter its appsrc, by cause.
    func drops(of stream: String) -> DropCounts

    /// Returns the packets that arrived for a stream in this run.
    func packets(of stream: String) -> PacketCounts
}
