internal import Synchronization

/// Converts the samples of one stream to what the program gets: frames of raw video, frames of raw
/// audio if asked for, and samples of everything else.
///
/// Used by one thread at a time: the one that pulls the samples.
final class SampleTranslation: Sendable {
    /// The rotation of the frames.
    let orientation = StreamOrientation()
    private let name: String
    private let sink: AppSink
    private let loan = PoolStarvationGuard()
    private let times: ContinuedTimes
    /// Samples that arrived at the appsink.
    let arrived = SingleWriterCounter()
    /// Samples that were pulled. Written under the lock of ``losses``.
    private let taken = SingleWriterCounter()
    /// The counts of samples that were not delivered.
    private struct Losses {
        var discarded = 0
        /// Samples that are known to have been evicted by newer ones.
        var evicted = 0
        /// What fills the stream's appsrc; `nil` if elements produce it.
        weak var feed: (any CaptureFeed)?
    }
    /// Held while a sample is pulled and counted, so that counts are exact at every moment.
    private let losses = Mutex(Losses())

    /// What is known about the stream.
    private struct Stream {
        var caps: Caps?
        /// Identity of ``caps``, which is retained so that no other caps can get the same identity.
        var capsIdentity: UInt?
        var layout: FrameLayout?
        /// Layout of raw audio; `nil` for anything else.
        var audio: AudioFrameLayout?
        var live: LiveTiming?
    }
    private let stream = Mutex(Stream())
    private let cropper = FrameCropper()
    /// Whether ``Stream/live`` is set.
    private let liveness = Atomic<Bool>(false)
    /// Whether ``begin(_:)`` was called in this run.
    private let hasBegun = Atomic<Bool>(false)
    /// Whether encoded media without a presentation time has no time.
    private let ignoresDecodingTimes = Atomic<Bool>(false)
    /// Whether raw audio is delivered as frames.
    private let isForAudioFrames = Atomic<Bool>(false)

    /// - Parameters:
    ///   - name: The name of the stream.
    ///   - times: Shared by the streams of a capture.
    init(_ name: String, _ sink: AppSink, times: ContinuedTimes) {
        self.name = name
        self.sink = sink
        self.times = times
    }

    /// Delivers raw audio as frames instead of samples. Must be called before the first run.
    func giveAudioFrames() { isForAudioFrames.store(true, ordering: .relaxed) }

    /// Resets the counts and the orientation for a new run.
    func reset() {
        losses.withLock { losses in
            (losses.discarded, losses.evicted) = (0, 0)
            taken.reset()
            arrived.reset()
        }
        hasBegun.store(false, ordering: .releasing)
        orientation.reset()
    }

    /// Sets what fills the stream's appsrc. The balance includes the frames that it drops.
    func setFeed(_ feed: any CaptureFeed) { losses.withLock { $0.feed = feed } }

    /// The packets that arrived from the network in this run; `nil` if no feed counts them.
    var packets: PacketCounts? { losses.withLock { $0.feed }?.packets(of: name) }

    /// Sets the live timing, `nil` if the capture is not live. Called with the first sample, which
    /// can be pulled from here on.
    func begin(_ live: LiveTiming?) {
        stream.withLock { $0.live = live }
        ignoresDecodingTimes.store(live != nil && sink.isReceived, ordering: .relaxed)
        liveness.store(live != nil, ordering: .releasing)
        hasBegun.store(true, ordering: .releasing)
    }

    var isLive: Bool { liveness.load(ordering: .acquiring) }

    /// Samples that were pulled in this run, discarded ones included.
    var takenSamples: Int { taken.value }

    /// Returns the next sample if one waits, otherwise `nil`; never blocks. Returns `nil` before
    /// ``begin(_:)``, even if the appsink has queued the first sample.
    ///
    /// - Parameter isDiscarding: Whether the caller discards the sample.
    func pull(isDiscarding: Bool = false) -> Sample? {
        guard hasBegun.load(ordering: .acquiring) else { return nil }
        return losses.withLock { losses in
            let arrived = arrived.value
            guard let sample = sink.tryPull() else {
                // The queue is empty: what had arrived and was not pulled has been evicted.
                evict(arrived - taken.value, in: &losses)
                return nil
            }
            taken.add()
            if isDiscarding { losses.discarded += 1 }
            return sample
        }
    }

    /// Accounts for the samples that arrived. A sample counts as delivered if it was pulled and not
    /// discarded. Samples that may still be in the queue count as waiting until a pull has found it
    /// empty.
    var balance: FrameBalance {
        losses.withLock { losses in
            let (arrived, taken) = (arrived.value, taken.value)
            evict(arrived - taken - sink.depth, in: &losses)
            var drops = losses.feed?.drops(of: name) ?? DropCounts()
            // A sample may be pulled just before its arrival is counted.
            let offered = max(arrived, taken + losses.evicted) + drops.total
            drops[.evicted] += losses.evicted
            drops[.closed] += losses.discarded
            return FrameBalance(
                offered: offered, delivered: taken - losses.discarded, dropped: drops)
        }
    }

    /// Notes that at least `count` samples were evicted. Only a live capture evicts any.
    private func evict(_ count: Int, in losses: inout Losses) {
        if isLive { losses.evicted = max(losses.evicted, count) }
    }

    /// Passes the sample that was pulled last to a receiver. Not as an ``Item``, which costs a tenth of all that
    /// a bridge does for a frame.
    func deliver(_ sample: consuming Sample, to receiver: any MediaReceiver) {
        let layout = layout(of: sample)
        let running = time(of: sample)
        guard let buffer = sample.takeBuffer() else { return }
        if let layout {
            let frame = frame(buffer, layout, running)
            receiver.receive(consume frame)
        } else if let audio = audioLayout {
            receiver.receive(self.frame(buffer, audio, running))
        } else {
            receiver.receive(self.sample(buffer, running))
        }
    }

    enum Item: Sendable {
        case frame(VideoFrame)
        case audio(AudioFrame)
        case sample(MediaSample)
    }

    /// Converts the sample that was pulled last; returns `nil` if it holds no buffer.
    func translate(_ sample: consuming Sample) -> Item? {
        let layout = layout(of: sample)
        let running = time(of: sample)
        guard let buffer = sample.takeBuffer() else { return nil }
        if let layout { return .frame(frame(buffer, layout, running)) }
        if let audio = audioLayout { return .audio(frame(buffer, audio, running)) }
        return .sample(self.sample(buffer, running))
    }

    /// The time at which the sample is due. Parsers of elementary streams give encoded media only a
    /// decoding time. Behind a receiver of RTP they estimate one for a picture whose presentation time is
    /// that of the picture before it, and may be far ahead of the next picture.
    private func time(of sample: borrowing Sample) -> MediaTime? {
        if let running = sample.runningTime { return times.place(MediaTime(nanoseconds: running)) }
        guard !ignoresDecodingTimes.load(ordering: .relaxed),
            let decoding = sample.decodingRunningTime,
            stream.withLock({ $0.caps?.isRaw }) == false
        else { return nil }
        return times.place(MediaTime(nanoseconds: decoding))
    }

    private func frame(
        _ buffer: consuming Buffer, _ layout: FrameLayout, _ running: MediaTime?
    ) -> VideoFrame {
        let duration = buffer.duration.map { MediaTime($0) }
        let live = live(buffer, running)
        let storage: BufferFrameStorage
        if let part = cropper.visiblePart(of: buffer, layout) {
            storage = part
        } else {
            storage = BufferFrameStorage(loan.lend(buffer), layout)
        }
        return VideoFrame(
            storage, runningTime: running, duration: duration, rotation: rotation, liveTiming: live)
    }

    /// The rotation of the sample that was pulled last.
    var rotation: VideoRotation {
        // A live capture may have evicted samples, so its frames cannot be numbered: the latest
        // orientation is used.
        orientation.rotation(of: isLive ? Int.max : takenSamples - 1)
    }

    /// Layout of raw audio that is delivered as frames. Valid after ``layout(of:)``, which updates
    /// it.
    private var audioLayout: AudioFrameLayout? {
        isForAudioFrames.load(ordering: .relaxed) ? stream.withLock { $0.audio } : nil
    }

    private func frame(
        _ buffer: consuming Buffer, _ layout: AudioFrameLayout, _ running: MediaTime?
    ) -> AudioFrame {
        let live = live(buffer, running)
        return AudioFrame(
            BufferAudioStorage(buffer, layout), runningTime: running, liveTiming: live)
    }

    private func sample(_ buffer: consuming Buffer, _ running: MediaTime?) -> MediaSample {
        let (caps, audio) = stream.withLock { ($0.caps, $0.audio) }
        let live = live(buffer, running)
        return MediaSample(
            buffer, caps: caps ?? .any, audioLayout: audio, runningTime: running, liveTiming: live)
    }

    private func live(_ buffer: borrowing Buffer, _ running: MediaTime?) -> LiveTiming? {
        guard isLive, var live = stream.withLock({ $0.live }) else { return nil }
        if let running, let time = buffer.captureTime {
            live.wallClockOrigin = MediaTime(nanoseconds: time) - live.clockOrigin - running
        }
        return live
    }

    /// Returns the layout of the sample's frame; `nil` if it is not raw video.
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
        stream.audio = caps.flatMap { AudioInfo($0) }.flatMap { AudioFrameLayout($0) }
    }
}

/// The times of a capture that was started again. If it is not live, each run begins with its own zero, and is placed
/// where the clock is. A live one keeps its times. But those of an RTP receiver may have been ahead of the clock by more
/// than the restart took: then the run is placed behind the last one.
///
/// Thread: any.
final class ContinuedTimes: Sendable {
    private struct State {
        /// Whether the next sample is the first of a run.
        var isRestarted = false
        /// Where it belongs, if it does not keep its time.
        var start: MediaTime?
        var shift = MediaTime.zero
        /// The latest time placed.
        var latest = MediaTime.zero
    }
    private let state = Mutex(State())
    private let isInUse = Atomic<Bool>(false)

    func reset() {
        isInUse.store(false, ordering: .relaxed)
        state.withLock { $0 = State() }
    }

    /// Keeps the times from here on: the capture may be started again.
    func begin() { isInUse.store(true, ordering: .relaxed) }

    /// Places the next sample at a time, and later samples at the same distance; `nil`: at its own time. Behind the
    /// latest sample if that is later.
    func restart(at time: MediaTime?) {
        state.withLock { ($0.isRestarted, $0.start) = (true, time) }
    }

    /// The least distance between two runs: timestamps in files may be whole milliseconds.
    private static let distance = MediaTime(nanoseconds: 1_000_000)

    func place(_ time: MediaTime) -> MediaTime {
        guard isInUse.load(ordering: .relaxed) else { return time }
        return state.withLock { state in
            if state.isRestarted {
                state.isRestarted = false
                state.shift = max(state.start ?? time, state.latest + Self.distance) - time
            }
            let placed = time + state.shift
            state.latest = max(state.latest, placed)
            return placed
        }
    }
}

/// The rotation of a stream's frames, as given by its `image-orientation` tags: the videos of
/// phones are often stored sideways with such a tag.
///
/// For a mirrored orientation only the rotation is reported: a frame cannot say that it is
/// mirrored.
final class StreamOrientation: Sendable {
    private struct Change {
        let rotation: VideoRotation
        /// Index of the first frame that it applies to.
        let index: Int
    }
    private let changes = Mutex<[Change]>([])
    /// Whether there are any changes; read for every frame.
    private let isReported = Atomic<Bool>(false)

    func reset() {
        changes.withLock { $0 = [] }
        isReported.store(false, ordering: .releasing)
    }

    /// Sets the rotation of the frames from `index` on.
    func change(to rotation: VideoRotation, from index: Int) {
        guard rotation != .upright || isReported.load(ordering: .acquiring) else { return }
        changes.withLock { changes in
            guard changes.last?.rotation != rotation else { return }
            changes.append(Change(rotation: rotation, index: index))
        }
        isReported.store(true, ordering: .releasing)
    }

    /// Returns the rotation of a frame. Called in the order of the frames.
    func rotation(of index: Int) -> VideoRotation {
        guard isReported.load(ordering: .acquiring) else { return .upright }
        return changes.withLock { changes in
            while changes.count > 1, changes[1].index <= index { changes.removeFirst() }
            guard let first = changes.first, first.index <= index else { return .upright }
            return first.rotation
        }
    }
}

/// Keeps a capture's buffer pool from running dry.
///
/// A camera has only a few buffers. Buffers that the program, an encoder or a display holds are not
/// available for the next frame, and the camera stalls. Buffers from a bounded pool are therefore
/// counted until their last owner releases them. Once all but two are in use, the next one is
/// copied: the source needs one, and the appsink holds the buffer that was pulled last.
final class PoolStarvationGuard: Sendable {
    private struct Pool: Sendable {
        var identity: UInt?
        var limit: Int?
    }
    private let pool = Mutex(Pool())
    private let outstanding = Atomic<Int>(0)

    /// Returns the buffer to hand out for `buffer`: the same one if it has no pool, the pool has no
    /// limit or enough buffers are left, otherwise a copy.
    func lend(_ buffer: consuming Buffer) -> Buffer {
        guard let identity = buffer.poolIdentity else { return buffer }
        let limit = pool.withLock { pool in
            if pool.identity != identity {
                pool = Pool(identity: identity, limit: buffer.poolLimit)
            }
            return pool.limit
        }
        guard let limit else { return buffer }
        if outstanding.load(ordering: .acquiring) >= limit - 2, let copy = buffer.deepCopy() {
            return copy
        }
        outstanding.add(1, ordering: .acquiringAndReleasing)
        return buffer.tracked { [self] in
            outstanding.subtract(1, ordering: .acquiringAndReleasing)
        }
    }
}
