internal import MediaBasics
internal import Synchronization

/// One pipeline of a ``TrackEncoder``: buffers in, units out.
final class EncoderRun: Sendable {
    /// The encoder's factory name.
    let element: String
    let output: Output
    let branch: OutputBranch
    private let units: AppSink
    /// `nil` if no other encoder can take over.
    private let pictures: UnfinishedPictures?
    /// Locked while a picture enters the queue. ``abandon()`` closes the queue first, which ends the wait for room.
    private let pushes = Mutex(())
    /// Notices hardware that does not answer any more; `nil` for software, which is only slow.
    private let watch = Mutex<Heartbeat?>(nil)
    private static let longestSilence = 10
    /// Whether the takeover by another encoder was begun.
    private let isBeingReplaced = Atomic(false)

    /// - Parameters:
    ///   - isReplaceable: Whether another encoder can take over if this one fails.
    ///   - clock: Measures when units arrive.
    ///   - receive: Gets each unit on the streaming thread, which it may block.
    ///   - end: Gets the end, with the error if it failed; more than once if errors follow.
    init(
        _ stream: RecordedStream, recipe: UnitPipeline, caps: Caps, isReplaceable: Bool,
        clock: any Timeline, receive: @escaping @Sendable (EncodedUnit) -> Void,
        end: @escaping @Sendable (EncoderRun?, PipelineError?) -> Void
    ) throws(PipelineError) {
        element = recipe.element
        var configuration = PipelineVideoSink.Configuration()
        configuration.queue =
            recipe.isCopy
            ? QueueDepth.copied : OutputQueueDepth(configured: nil).limit(for: caps, isLive: false)
        let output = try Output(recipe.text, configuration: configuration)
        guard let branch = output.branches[stream.name],
            let units = output.pipeline.appSinks["units"]
        else {
            throw PipelineError(
                .wrongEnds, message: "the encoder's pipeline has no appsrc or no appsink")
        }
        self.output = output
        self.branch = branch
        self.units = units
        units.configure(depth: 4, isPaced: false)
        output.pipeline.element(named: Pad.adtsWriter)?.pad("sink")?.describeAACChannels()
        if let interval = recipe.keyFrameInterval.flatMap({ ClockTime($0) }) {
            branch.source.forceKeyFrames(every: interval)
        }
        let pictures = isReplaceable ? UnfinishedPictures() : nil
        self.pictures = pictures
        if let pictures {
            branch.source.onDepartureTime { [weak pipeline = output.pipeline, element] time in
                guard !pictures.leave(MediaTime(time)) else { return }
                pipeline?.fail(
                    PipelineError(
                        .streamFailed,
                        message: "\(element) delivered none of the last "
                            + "\(UnfinishedPictures.most) pictures"))
            }
        }
        let reader = UnitReader(
            stream, from: units, hiddenDelay: recipe.hiddenDelay, isCopy: recipe.isCopy,
            clock: clock)
        // The sink and its handlers retain each other until the handlers are removed.
        units.setHandlers(
            onSample: {
                if let unit = reader.pull(), pictures?.finish(unit.presented) ?? true {
                    receive(unit)
                    pictures?.deliver()
                }
                return true
            },
            onEnd: { [weak self] in end(self, nil) })
        output.failsForFormat()
        output.pipeline.onFirstError { [weak self] in end(self, $0) }
        guard let pictures, recipe.isHardware else { return }
        let silence = Atomic(0)
        let queue = SerialQueue(label: "mediabridge.silence")
        let heartbeat = Heartbeat(every: .seconds(1), on: queue, of: clock) { [weak self] in
            guard let self else { return }
            guard pictures.isStanding() else { return silence.store(0, ordering: .relaxed) }
            let seconds = silence.add(1, ordering: .relaxed).newValue
            guard seconds == Self.longestSilence else { return }
            output.pipeline.fail(
                PipelineError(
                    .streamFailed,
                    message: "\(element) has delivered nothing for \(seconds) seconds"))
        }
        watch.withLock { $0 = heartbeat }
    }

    deinit { units.removeHandlers() }

    /// Accepts buffers from here on. The pipeline starts asynchronously; if it cannot, it fails.
    func start() {
        output.prepare()
        output.pipeline.requestState(.playing) { [weak pipeline = output.pipeline] error in
            if let error { pipeline?.fail(error) }
        }
    }

    var hasFailed: Bool { output.pipeline.failure != nil }

    /// Pushes a buffer, as ``TrackEncoder/push(_:caps:time:duration:evicts:)`` does.
    func push(
        _ buffer: consuming Buffer, caps: Caps, time: MediaTime, duration: MediaTime?, evicts: Bool
    ) -> FrameDisposition {
        guard let pictures else {
            // `time` already includes the live timing.
            return branch.push(
                buffer, caps: caps, time: time, duration: duration, live: nil, evicts: evicts)
        }
        let picture = UnfinishedPicture(buffer, caps: caps, time: time, duration: duration)
        return pushes.withLock { _ in
            let disposition = enter(picture, pictures, evicts: evicts)
            if !disposition.isAccepted { pictures.refuse(picture, isKept: false) }
            return disposition
        }
    }

    /// Pushes a picture that another encoder did not finish. It stays unfinished if this one fails, too.
    func push(_ picture: UnfinishedPicture) {
        guard let pictures else { return }
        pushes.withLock { _ in
            if enter(picture, pictures, evicts: false).isAccepted { return }
            pictures.refuse(picture, isKept: true)
        }
    }

    private func enter(
        _ picture: UnfinishedPicture, _ pictures: UnfinishedPictures, evicts: Bool
    ) -> FrameDisposition {
        pictures.enter(picture)
        let disposition = branch.push(
            picture.buffer.retained(), caps: picture.caps, time: picture.time,
            duration: picture.duration, live: nil, evicts: evicts)
        pictures.limitQueue(to: branch.waitingBuffers + 1)
        return disposition
    }

    /// Returns whether the takeover by another encoder begins with this call.
    func beginReplacement() -> Bool {
        pictures != nil && !isBeingReplaced.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Ends it after a failure: no unit follows, and no buffer is accepted.
    ///
    /// - Returns: The pictures whose units did not come, and the number of pictures that its queue evicted.
    func abandon() -> (pictures: [UnfinishedPicture], evicted: Int) {
        output.close()
        watch.withLock { $0 = nil }
        let left = pushes.withLock { _ in
            pictures?.takeAll(waiting: branch.waitingBuffers) ?? []
        }
        let evicted = branch.drops[.evicted]
        output.pipeline.requestState(.null)
        return (left, evicted)
    }
}

/// A picture that an encoder has got, and whose unit has not come.
final class UnfinishedPicture: Sendable {
    let buffer: Buffer
    let caps: Caps
    let time: MediaTime
    let duration: MediaTime?

    init(_ buffer: consuming Buffer, caps: Caps, time: MediaTime, duration: MediaTime?) {
        (self.caps, self.time, self.duration) = (caps, time, duration)
        self.buffer = buffer
    }
}

/// The pictures that an encoder has not finished: another one encodes them if it fails.
private final class UnfinishedPictures: Sendable {
    private struct State {
        /// The pictures in the queue in front of the encoder, and the pictures inside it with the number of units that
        /// had come when it got them.
        var queued: [UnfinishedPicture] = []
        var taken: [(picture: UnfinishedPicture, unitsBefore: Int)] = []
        /// Pictures of a failed encoder that did not enter the queue.
        var refused: [UnfinishedPicture] = []
        var units = 0
        /// The latest time of a unit, and whether units came in another order.
        var latest: MediaTime?
        var isReordered = false
        /// The number of units at the last check.
        var checked = 0
        /// Whether the receiver has a unit, and may block.
        var isDelivering = false
        var isOver = false
    }
    private let state = Mutex(State())

    /// How many pictures an encoder may hold. One that is asked for a low delay holds a few.
    static let most = 64
    /// How far an encoder may round times.
    private static let rounding: Int64 = 500_000

    /// Adds a picture that is about to enter the queue.
    func enter(_ picture: UnfinishedPicture) { state.withLock { $0.queued.append(picture) } }

    /// Notes that a picture did not enter the queue.
    ///
    /// - Parameter isKept: Whether the next encoder gets it.
    func refuse(_ picture: UnfinishedPicture, isKept: Bool) {
        state.withLock { state in
            state.queued.removeAll { $0 === picture }
            if isKept { state.refused.append(picture) }
        }
    }

    /// Removes the oldest pictures of the queue, which were evicted, down to a number.
    func limitQueue(to count: Int) {
        state.withLock { $0.queued.removeFirst(max(0, $0.queued.count - count)) }
    }

    /// Notes that the encoder gets the picture of a time. Those before it that are still in the queue were evicted.
    ///
    /// - Returns: False if the encoder holds too many, and delivers none.
    func leave(_ time: MediaTime) -> Bool {
        state.withLock { state in
            guard let place = state.queued.firstIndex(where: { $0.time.isNear(time, 1) }) else {
                return true
            }
            state.taken.append((state.queued[place], state.units))
            state.queued.removeFirst(place + 1)
            guard state.taken.count > Self.most else { return true }
            guard state.taken[0].unitsBefore < state.units else { return false }
            // It left this one out.
            state.taken.removeFirst()
            return true
        }
    }

    /// Notes the unit of a picture.
    ///
    /// - Returns: False if another encoder has taken over: the unit must not be used.
    func finish(_ time: MediaTime) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.units += 1
            state.isDelivering = true
            if let latest = state.latest, time < latest { state.isReordered = true }
            state.latest = state.latest.map { max($0, time) } ?? time
            let place = state.taken.firstIndex { $0.picture.time.isNear(time, Self.rounding) }
            // An encoder may round more; then the oldest picture is meant.
            if !state.taken.isEmpty { state.taken.remove(at: place ?? 0) }
            return true
        }
    }

    /// Notes that the receiver has taken a unit.
    func deliver() { state.withLock { $0.isDelivering = false } }

    /// Returns whether the encoder holds pictures, and has delivered none since the last call.
    func isStanding() -> Bool {
        state.withLock { state in
            defer { state.checked = state.units }
            return !state.taken.isEmpty && !state.isDelivering && state.checked == state.units
        }
    }

    /// Returns all unfinished pictures in the order of their times, without those that the encoder left out.
    ///
    /// - Parameter count: The number of pictures in the queue.
    func takeAll(waiting count: Int) -> [UnfinishedPicture] {
        state.withLock { state in
            state.isOver = true
            defer { (state.taken, state.queued, state.refused) = ([], [], []) }
            let latest = state.isReordered ? nil : state.latest
            let inside = state.taken.map(\.picture).filter { picture in
                latest.map { picture.time > $0 } ?? true
            }
            return inside + state.queued.suffix(count) + state.refused
        }
    }
}

extension MediaTime {
    fileprivate func isNear(_ other: MediaTime, _ nanoseconds: Int64) -> Bool {
        abs((self - other).nanoseconds) <= nanoseconds
    }
}
