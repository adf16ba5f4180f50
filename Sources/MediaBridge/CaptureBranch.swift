internal import Dispatch
internal import Synchronization

/// One appsink of a capture, and how its samples reach the program.
final class CaptureBranch: Sendable {
    /// The name users know it by: `video`, `audio` ….
    let name: String
    let sink: AppSink

    private let arrived = Atomic<Int>(0)
    private let taken = Atomic<Int>(0)
    private let isDrainScheduled = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let isEndTold = Atomic<Bool>(false)
    private let isLive = Atomic<Bool>(false)
    private let queue: DispatchQueue
    private let loan = PoolLoan()

    /// What is known of the stream; used by the one thread that takes samples.
    private struct Stream {
        var caps: Caps?
        var layout: FrameLayout?
    }
    private let stream = Mutex(Stream())

    private enum Mode: Sendable {
        case idle
        case push(any CaptureReceiver)
        case pull(@Sendable () -> Void)
    }
    private let mode = Mutex<Mode>(.idle)
    private let timing = Mutex<LiveTiming?>(nil)

    init(name: String, sink: AppSink, depth: Int, isPaced: Bool) {
        self.name = name
        self.sink = sink
        queue = DispatchQueue(label: "mediabridge.delivery.\(name)")
        sink.configure(depth: depth, isPaced: isPaced)
    }

    /// Delivers samples to `receiver` as they come, and an end that came already.
    func push(to receiver: any CaptureReceiver) {
        mode.withLock { $0 = .push(receiver) }
        if hasEnded.load(ordering: .acquiring) { tellEnd(receiver) }
    }

    /// Delivers to nobody, and holds nobody.
    func disconnect() { mode.withLock { $0 = .idle } }

    /// Only tells that a sample, or the end, is there; ``tryPull()`` takes it.
    func pull(onArrival: @escaping @Sendable () -> Void) {
        mode.withLock { $0 = .pull(onArrival) }
    }

    /// Connects the branch to its appsink. `onFirstSample` runs on the streaming thread, before the
    /// first sample of the branch is delivered, and says whether the capture is live.
    func connect(onFirstSample: @escaping @Sendable () -> LiveTiming?) {
        sink.setHandlers(
            onSample: { [weak self] in
                self?.sampleArrived(onFirstSample)
                return .ok
            },
            onEnd: { [weak self] in self?.end() })
    }

    /// Forgets an earlier run.
    func reset() {
        arrived.store(0, ordering: .relaxed)
        taken.store(0, ordering: .relaxed)
        hasEnded.store(false, ordering: .releasing)
        isEndTold.store(false, ordering: .releasing)
    }

    /// Samples that came out of the pipeline.
    var arrivedSamples: Int { arrived.load(ordering: .relaxed) }

    /// Samples that the program has taken.
    var takenSamples: Int { taken.load(ordering: .relaxed) }

    /// Old samples that gave way to newer ones; exact once ``discardWaiting()`` was called, or the
    /// stream has ended and was read to its end.
    var evictedSamples: Int { max(0, arrivedSamples - takenSamples) }

    /// Whether the stream has ended and every sample has been taken.
    var isFinished: Bool {
        hasEnded.load(ordering: .acquiring) && (arrivedSamples == 0 || sink.isEnded)
    }

    /// Wakes a reader, to look for the end or for an error.
    func wake() {
        if case .pull(let onArrival) = mode.withLock({ $0 }) { onArrival() }
    }

    /// Takes the samples that still wait, and lets them go: they came after the stop.
    func discardWaiting() {
        while sink.tryPull() != nil { taken.add(1, ordering: .relaxed) }
    }

    /// The stream will never come: the file has none for this branch.
    func endUnfed() { end() }

    // MARK: Streaming zone

    private func sampleArrived(_ onFirstSample: () -> LiveTiming?) {
        if arrived.add(1, ordering: .acquiringAndReleasing).newValue == 1 {
            let live = onFirstSample()
            timing.withLock { $0 = live }
            sink.dropsOldest = live != nil
            isLive.store(live != nil, ordering: .releasing)
        }
        switch mode.withLock({ $0 }) {
        case .idle: break
        case .pull(let onArrival): onArrival()
        case .push(let receiver):
            if isLive.load(ordering: .acquiring) {
                scheduleDrain(receiver)
            } else {
                drain(to: receiver)
            }
        }
    }

    private func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        switch mode.withLock({ $0 }) {
        case .idle: break
        case .pull(let onArrival): onArrival()
        case .push(let receiver): tellEnd(receiver)
        }
    }

    /// Once: the end may come while a receiver is being connected.
    private func tellEnd(_ receiver: any CaptureReceiver) {
        guard !isEndTold.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            drain(to: receiver)
            receiver.branchEnded()
        }
    }

    private func scheduleDrain(_ receiver: any CaptureReceiver) {
        guard !isDrainScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            isDrainScheduled.store(false, ordering: .releasing)
            drain(to: receiver)
        }
    }

    private func drain(to receiver: any CaptureReceiver) {
        while let item = tryPull() {
            switch item {
            case .frame(let frame): receiver.receive(frame)
            case .sample(let sample): receiver.receive(sample)
            }
        }
    }

    // MARK: Taking samples

    enum Item: Sendable {
        case frame(VideoFrame)
        case sample(MediaSample)
    }

    /// The next frame or sample if one waits; never blocks. One caller at a time.
    func tryPull() -> Item? {
        while let sample = sink.tryPull() {
            taken.add(1, ordering: .relaxed)
            if let item = translate(sample) { return item }
        }
        return nil
    }

    private func translate(_ sample: borrowing Sample) -> Item? {
        guard let buffer = sample.buffer else { return nil }
        var known = stream.withLock { $0 }
        let isKnown = if let caps = known.caps { sample.hasCaps(caps) } else { false }
        if !isKnown {
            let caps = sample.caps
            let layout = caps.flatMap { VideoInfo($0) }.map { FrameLayout($0) }
            known = Stream(caps: caps, layout: layout)
            stream.withLock { [known] in $0 = known }
            if caps?.mediaType.hasPrefix("audio/") == true { deepen() }
        }
        guard let caps = known.caps else { return nil }
        let live = timing.withLock { $0 }
        let running = buffer.presentationTime.flatMap { sample.runningTime(of: $0) }.map {
            MediaTime(nanoseconds: $0)
        }
        guard let layout = known.layout else {
            return .sample(MediaSample(buffer, caps: caps, runningTime: running, liveTiming: live))
        }
        let duration = buffer.duration.map { MediaTime($0) }
        let storage = BufferFrameStorage(loan.lend(buffer), layout)
        return .frame(
            VideoFrame(storage, runningTime: running, duration: duration, liveTiming: live))
    }

    /// Audio comes in small pieces: a queue of a few would be a few milliseconds.
    private func deepen() { sink.deepen(to: 64) }
}
