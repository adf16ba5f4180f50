internal import Dispatch
internal import Synchronization

/// One appsink of a capture, and how its samples reach the program.
final class CaptureBranch: Sendable {
    /// The name users know it by: `video`, `audio` ….
    let name: String
    let sink: AppSink

    private let arrived = Tally()
    private let taken = Atomic<Int>(0)
    private let isDrainScheduled = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let isEndTold = Atomic<Bool>(false)
    private let queue: DispatchQueue
    private let loan = PoolLoan()

    /// What is known of the stream; used by the one thread that takes samples.
    private struct Stream {
        var caps: Caps?
        /// That of ``caps``, which is held so that no other caps can have it.
        var capsIdentity: UInt?
        var layout: FrameLayout?
        var live: LiveTiming?
    }
    private let stream = Mutex(Stream())

    private enum Mode: Sendable {
        case idle
        case push(any CaptureReceiver)
        case pull(@Sendable () -> Void)
        case discard
    }
    private let mode = Mutex<Mode>(.idle)
    /// Whether ``Stream/live`` is set.
    private let isLive = Atomic<Bool>(false)

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
    func sever() { sink.removeHandlers() }

    /// Forgets an earlier run.
    func reset() {
        arrived.reset()
        taken.store(0, ordering: .relaxed)
        hasEnded.store(false, ordering: .releasing)
        isEndTold.store(false, ordering: .releasing)
    }

    /// Samples that came out of the pipeline.
    var arrivedSamples: Int { arrived.value }

    /// Samples that the program has taken.
    var takenSamples: Int { taken.load(ordering: .relaxed) }

    /// Old samples that gave way to newer ones; exact once ``discard()`` was called, or the stream
    /// has ended and was read to its end.
    var evictedSamples: Int { max(0, arrivedSamples - takenSamples) }

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
        mode.withLock { $0 = .discard }
        discardWaiting()
    }

    private func discardWaiting() { while pullSample() != nil {} }

    /// The stream will never come: the file has none for this branch.
    func endUnfed() { end() }

    // MARK: Streaming zone

    private func sampleArrived(_ onFirstSample: (CaptureBranch) -> LiveTiming?) {
        if arrived.add() == 1 {
            let live = onFirstSample(self)
            stream.withLock { $0.live = live }
            sink.dropsOldest = live != nil
            isLive.store(live != nil, ordering: .releasing)
        }
        switch mode.withLock({ $0 }) {
        case .idle: break
        case .discard: discardWaiting()
        case .pull(let onArrival): onArrival()
        case .push(let receiver):
            if isLive.load(ordering: .acquiring) {
                scheduleDrain(receiver)
            } else {
                deliverArrived(to: receiver)
            }
        }
    }

    private func end() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        switch mode.withLock({ $0 }) {
        case .idle, .discard: break
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
        while let sample = pullSample() { deliver(sample, to: receiver) }
    }

    /// A file's appsink drops nothing, so the counts tell how many wait: no need to ask for one more.
    private func deliverArrived(to receiver: any CaptureReceiver) {
        while takenSamples < arrivedSamples, let sample = pullSample() {
            deliver(sample, to: receiver)
        }
    }

    private func deliver(_ sample: consuming Sample, to receiver: any CaptureReceiver) {
        let layout = layout(of: sample)
        let running = sample.runningTime.map { MediaTime(nanoseconds: $0) }
        guard let buffer = sample.takeBuffer() else { return }
        if let layout {
            let frame = frame(buffer, layout, running)
            receiver.receive(consume frame)
        } else if let sample = self.sample(buffer, running) {
            receiver.receive(sample)
        }
    }

    // MARK: Taking samples

    enum Item: Sendable {
        case frame(VideoFrame)
        case sample(MediaSample)
    }

    /// The next frame or sample if one waits; never blocks. One caller at a time.
    func tryPull() -> Item? {
        while let sample = pullSample() {
            if let item = translate(sample) { return item }
        }
        return nil
    }

    private func pullSample() -> Sample? {
        guard let sample = sink.tryPull() else { return nil }
        taken.add(1, ordering: .relaxed)
        return sample
    }

    private func translate(_ sample: consuming Sample) -> Item? {
        let layout = layout(of: sample)
        let running = sample.runningTime.map { MediaTime(nanoseconds: $0) }
        guard let buffer = sample.takeBuffer() else { return nil }
        if let layout {
            return .frame(frame(buffer, layout, running))
        }
        return self.sample(buffer, running).map { .sample($0) }
    }

    private func frame(
        _ buffer: consuming Buffer, _ layout: FrameLayout, _ running: MediaTime?
    ) -> VideoFrame {
        let duration = buffer.duration.map { MediaTime($0) }
        return VideoFrame(
            BufferFrameStorage(loan.lend(buffer), layout), runningTime: running,
            duration: duration, liveTiming: live)
    }

    private func sample(_ buffer: consuming Buffer, _ running: MediaTime?) -> MediaSample? {
        guard let caps = stream.withLock({ $0.caps }) else { return nil }
        return MediaSample(buffer, caps: caps, runningTime: running, liveTiming: live)
    }

    private var live: LiveTiming? {
        isLive.load(ordering: .acquiring) ? stream.withLock { $0.live } : nil
    }

    /// The layout of the sample's frame; `nil` for what is not raw video.
    private func layout(of sample: borrowing Sample) -> FrameLayout? {
        let identity = sample.capsIdentity
        return stream.withLock { stream in
            if stream.capsIdentity != identity { change(&stream, to: sample.caps) }
            return stream.layout
        }
    }

    private func change(_ stream: inout Stream, to caps: Caps?) {
        stream.caps = caps
        stream.capsIdentity = caps?.identity
        stream.layout = caps.flatMap { VideoInfo($0) }.map { FrameLayout($0) }
        if caps?.mediaType.hasPrefix("audio/") == true { deepen() }
    }

    /// Audio comes in small pieces: a queue of a few would be a few milliseconds.
    private func deepen() { sink.deepen(to: 64) }
}
