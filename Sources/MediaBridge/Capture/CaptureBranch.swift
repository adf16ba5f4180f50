internal import Dispatch
internal import MediaBasics
internal import Synchronization

/// One appsink of a capture, and how its samples reach the program.
final class CaptureBranch: Sendable {
    /// The name users know it by: `video`, `audio` ….
    let name: String
    let sink: AppSink

    private let arrived = SingleWriterCounter()
    /// Samples let go of because nobody took any more.
    private let discarded = Atomic<Int>(0)
    /// Samples that are known to have given way.
    private let evicted = Atomic<Int>(0)
    private let isDrainScheduled = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let lost = Mutex<PipelineError?>(nil)
    private let isEndTold = Atomic<Bool>(false)
    /// Counts runs, so that the end of one is not told in the next.
    private let run = Atomic<Int>(0)
    private let queue: SerialQueue
    private let translation: SampleTranslation
    /// What the stream said of itself, and nobody was told yet.
    private let untoldTags = Mutex<[Tags]>([])

    private enum Mode: Sendable {
        case idle
        case push(any CaptureReceiver)
        case pull(@Sendable () -> Void)
        case discard
        /// Somebody will read, and has not begun: what is not live waits.
        case hold(DispatchSemaphore)
    }
    private let mode = Mutex<Mode>(.idle)

    /// Lets go of who waits for the mode to change.
    private func enter(_ next: Mode) {
        let before = mode.withLock { mode in
            defer { mode = next }
            return mode
        }
        if case .hold(let change) = before { change.signal() }
    }

    init(name: String, sink: AppSink, depth: Int, isPaced: Bool) {
        self.name = name
        self.sink = sink
        queue = SerialQueue(label: "mediabridge.delivery.\(name)")
        translation = SampleTranslation(sink)
        sink.configure(depth: depth, isPaced: isPaced)
        let pad = sink.element.pad("sink")
        pad?.onOrientation { [weak self] in self?.turned($0) }
        pad?.onTags { [weak self] in self?.told($0) }
    }

    /// Delivers samples to `receiver` as they come, and an end that came already.
    func push(to receiver: any CaptureReceiver) {
        tellTags(receiver)
        enter(.push(receiver))
        tellTags(receiver)
        if hasEnded.load(ordering: .acquiring) { tellEnd(receiver) }
    }

    /// Delivers to nobody, and holds nobody.
    func disconnect() { enter(.idle) }

    /// Keeps what comes until a reader begins: a file waits then, on its own thread. Ends with any other
    /// mode.
    func hold() { enter(.hold(DispatchSemaphore(value: 0))) }

    /// Gives raw audio as frames. Before the first run.
    func giveAudioFrames() { translation.giveAudioFrames() }

    /// Only tells that a sample, or the end, is there; ``tryPull()`` takes it.
    func pull(onArrival: @escaping @Sendable () -> Void) {
        enter(.pull(onArrival))
    }

    /// Connects the branch to its appsink. `onFirstSample` runs on the streaming thread, before the
    /// first sample of the branch is delivered, and says whether the capture is live. From here on
    /// appsink and branch hold each other, until ``sever()``: a weak reference would cost every frame.
    func connect(onFirstSample: @escaping @Sendable (CaptureBranch) -> LiveTiming?) {
        sink.setHandlers(
            onSample: { [self] in
                sampleArrived(onFirstSample)
                return .ok
            },
            onEnd: { [self] in end() })
    }

    /// Takes the branch off its appsink.
    func sever() {
        enter(.idle)
        sink.removeHandlers()
    }

    /// Forgets an earlier run.
    func reset() {
        run.add(1, ordering: .releasing)
        arrived.reset()
        discarded.store(0, ordering: .releasing)
        evicted.store(0, ordering: .releasing)
        translation.reset()
        untoldTags.withLock { $0 = [] }
        lost.withLock { $0 = nil }
        hasEnded.store(false, ordering: .releasing)
        isEndTold.store(false, ordering: .releasing)
    }

    /// Samples that came out of the pipeline.
    var arrivedSamples: Int { arrived.value }

    /// Samples that the program has taken.
    var takenSamples: Int { translation.takenSamples }

    /// Samples that were taken and let go of, because they came after the stop.
    var discardedSamples: Int { discarded.load(ordering: .acquiring) }

    /// Old samples that gave way to newer ones. Those that the queue may still hold are taken for waiting
    /// until ``discard()`` was called, or the stream has ended and was read to its end.
    var evictedSamples: Int {
        guard translation.isLive else { return 0 }
        let taken = takenSamples
        let missing = arrivedSamples - taken
        let known = isStanding ? missing : missing - sink.depth
        return evicted.max(max(0, known), ordering: .acquiringAndReleasing).newValue
    }

    /// Whether nothing waits any more.
    private var isStanding: Bool {
        switch mode.withLock({ $0 }) {
        case .discard, .idle: true
        case .push, .pull, .hold: isFinished
        }
    }

    /// Lets go of what waits and follows, where it is live. A file has handed over all it read.
    func discardIfLive() { if translation.isLive { discard() } }

    /// What came, and what became of it; delivered is what was taken to be delivered.
    var balance: FrameBalance {
        var drops = DropCounts()
        drops[.evicted] = evictedSamples
        let discarded = discardedSamples
        drops[.closed] = discarded
        let taken = takenSamples
        // A sample may be taken in the moment before it is counted as there.
        let offered = max(arrivedSamples, taken + drops[.evicted])
        return FrameBalance(offered: offered, delivered: taken - discarded, dropped: drops)
    }

    /// Whether the stream has ended and every sample has been taken.
    var isFinished: Bool {
        hasEnded.load(ordering: .acquiring) && (arrivedSamples == 0 || sink.isEnded)
    }

    /// Wakes a reader, to look for the end or for an error.
    func wake() {
        if case .pull(let onArrival) = mode.withLock({ $0 }) { onArrival() }
    }

    /// Lets go of the samples that wait and of all that follow: they come after the stop. Without it a
    /// capture that waits for a reader would not change its state.
    func discard() {
        enter(.discard)
        discardWaiting()
    }

    private func discardWaiting() {
        while translation.pull() != nil { discarded.add(1, ordering: .acquiringAndReleasing) }
    }

    /// The stream will never come, and why.
    func end(losing error: PipelineError) {
        guard !isEnded else { return }
        lost.withLock { if $0 == nil { $0 = error } }
        end()
    }

    /// Why the stream never came in this run.
    var loss: PipelineError? { lost.withLock { $0 } }

    /// Whether nothing more comes out of the pipeline.
    var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

    // MARK: Streaming zone

    private func sampleArrived(_ onFirstSample: (CaptureBranch) -> LiveTiming?) {
        if arrived.add() == 1 {
            let live = onFirstSample(self)
            sink.dropsOldest = live != nil
            translation.begin(live)
        }
        deliver()
    }

    private func deliver() {
        switch mode.withLock({ $0 }) {
        case .idle: break
        case .hold(let change):
            guard !translation.isLive else { break }
            change.wait()
            deliver()
        case .discard: discardWaiting()
        case .pull(let onArrival): onArrival()
        case .push(let receiver):
            if translation.isLive {
                scheduleDrain(receiver)
            } else {
                deliverArrived(to: receiver)
            }
        }
    }

    private func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        switch mode.withLock({ $0 }) {
        case .idle, .discard, .hold: break
        case .pull(let onArrival): onArrival()
        case .push(let receiver): tellEnd(receiver)
        }
    }

    /// Once: the end may come while a receiver is being connected.
    private func tellEnd(_ receiver: any CaptureReceiver) {
        guard !isEndTold.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let run = self.run.load(ordering: .acquiring)
        queue.async { [self] in
            guard run == self.run.load(ordering: .acquiring) else { return }
            drain(to: receiver)
            receiver.branchEnded(losing: loss)
        }
    }

    /// Runs `body` where the end would be told, in the run that is now, after the frames of a live
    /// capture that wait. Any thread.
    func afterDelivery(_ body: @escaping @Sendable () -> Void) {
        let run = self.run.load(ordering: .acquiring)
        queue.async { [self] in
            guard run == self.run.load(ordering: .acquiring) else { return }
            if translation.isLive, case .push(let receiver) = mode.withLock({ $0 }) {
                drain(to: receiver)
            }
            body()
        }
    }

    /// Before the samples that it is about.
    private func told(_ tags: Tags) {
        // The pictures are turned by now, and would be turned once more.
        let isTurned = tags["image-orientation"] != nil && sink.isTurnedByTag
        guard let tags = isTurned ? tags.removing(["image-orientation"]) : tags else { return }
        untoldTags.withLock { $0.append(tags) }
        guard case .push(let receiver) = mode.withLock({ $0 }) else { return }
        guard translation.isLive else { return tellTags(receiver) }
        afterDelivery { [self] in tellTags(receiver) }
    }

    /// In their order: whoever is called may not wait.
    private func tellTags(_ receiver: any CaptureReceiver) {
        untoldTags.withLock { tags in
            tags.forEach { receiver.receive($0) }
            tags = []
        }
    }

    /// Before the pictures that it is about.
    private func turned(_ orientation: ImageOrientation) {
        var rotation = VideoRotation(rawValue: orientation.degrees) ?? .none
        if rotation != .none, sink.isTurnedByTag { rotation = .none }
        translation.orientation.change(to: rotation, from: arrived.value)
    }

    private func scheduleDrain(_ receiver: any CaptureReceiver) {
        guard !isDrainScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isDrainScheduled.store(false, ordering: .releasing)
            drain(to: receiver)
        }
    }

    private func drain(to receiver: any CaptureReceiver) {
        while let sample = translation.pull() { translation.deliver(sample, to: receiver) }
    }

    /// A file's appsink drops nothing, so the counts tell how many wait: no need to ask for one more.
    private func deliverArrived(to receiver: any CaptureReceiver) {
        while takenSamples < arrivedSamples, let sample = translation.pull() {
            translation.deliver(sample, to: receiver)
        }
    }

    // MARK: Taking samples

    /// The next frame or sample if one waits; never blocks. One caller at a time.
    func tryPull() -> SampleTranslation.Item? {
        while let sample = translation.pull() {
            if let item = translation.translate(sample) { return item }
        }
        return nil
    }
}
