internal import MediaCore
internal import Synchronization

/// One video track of another user. Frames go to all receivers unchanged. Units go unchanged to the
/// receivers that take units; the others get the decoded pictures.
///
/// Thread: any, one frame or unit at a time.
final class RemoteVideo: Sendable {
    let video: VideoStream
    private let meter: FrameMeter
    private let decoder: TrackDecoder
    /// Counts the pictures that ``decoder`` made.
    private let decoded = RateMeter()
    /// Delays pictures to keep them in sync with the user's sound.
    private let delay: PlayoutDelay
    private let clock: EngineClock
    private let stream: MediaTrackID
    /// The time of the last picture.
    private let lastShown = Mutex<MediaTime?>(nil)
    /// The largest backward step of a correction; a larger step comes from another clock.
    private static let correction = MediaTime(seconds: 30)
    /// Callbacks for the events of the track.
    struct Listener: Sendable {
        /// Called after the first frame with the size of the picture; zero if only the bytes
        /// contain it.
        let onFirst: @Sendable (VideoSize) -> Void
        /// Called if the units cannot be decoded.
        let onFailure: @Sendable (any Error) -> Void
        /// Called for each unit that cannot be used without a key frame.
        let onKeyFrameNeeded: @Sendable () -> Void
    }
    private struct State {
        /// No frame has arrived since the start, or since the track was published again.
        var isFresh = true
        var carriesUnits = false
        /// Whether the pictures of units are wanted.
        var needsPicture = false
        /// Whether the next picture is the first of the stream.
        var announcesPicture = false
        /// The codec of the latest unit that is decoded.
        var codec: VideoCodec?
    }
    private let state = Mutex(State())
    private let listener: Listener

    init(
        _ backend: any MediaBackend, _ clock: EngineClock, queueTimeout: Duration,
        delay: PlayoutDelay, track: TrackID, _ listener: Listener
    ) {
        video = VideoStream(backend)
        meter = FrameMeter(clock: clock.clockTime)
        self.delay = delay
        self.clock = clock
        stream = .video(track)
        decoder = TrackDecoder(backend, clock: clock, queueTimeout: queueTimeout)
        self.listener = listener
        decoder.output.track = self
    }

    deinit { decoder.end() }

    /// The number of received frames and units.
    var received: Int { meter.frames }

    /// Returns the counts of this track.
    ///
    /// - Parameter now: The time for the frame rate; `nil` to leave the rate at zero.
    func counts(now: MediaTime?) -> EngineStatistics.Remote {
        let decoding = decoder.balance(of: decoded.frames)
        return EngineStatistics.Remote(
            received: meter.frames, decoding: decoding,
            frameRate: now.map { meter.rate(at: $0) } ?? 0, size: meter.lastSize,
            playoutDelay: delay.present(stream).duration)
    }

    /// Resets the track after it was published again or has ended: the next frame starts a new
    /// stream.
    func restart() {
        state.withLock { ($0.isFresh, $0.carriesUnits, $0.needsPicture) = (true, false, false) }
        delay.restart(stream)
        endUnits()
    }

    /// Calls `body` when all outcomes of units before a ``restart()`` are counted.
    func settled(then body: @escaping @Sendable () -> Void) { decoder.settled(then: body) }

    private func endUnits() {
        decoder.end()
        video.endUnits()
    }

    /// - Parameter isReady: Whether the frame is ready; otherwise it must still be decoded.
    private func liveTiming(of frame: some MediaFrame, isReady: Bool = true) -> LiveTiming? {
        delay.timing(of: frame, in: stream, on: clock, isReady: isReady)
    }

    /// Sets the times of a picture that is shown next. A correction of the network's time estimate may
    /// make it due before the previous picture. It then follows that picture directly, because
    /// video sinks accept no other order.
    private func setShown(_ picture: inout VideoFrame) {
        picture.liveTiming = liveTiming(of: picture)
        guard let time = picture.runningTime else { return }
        picture.runningTime = lastShown.withLock { last in
            let isCorrection = last.map { time <= $0 && $0 - time < Self.correction } ?? false
            let due = isCorrection ? last.map { $0 + MediaTime(nanoseconds: 1000) } : time
            last = due
            return due
        }
    }

    func receive(_ frame: consuming VideoFrame) {
        var frame = frame
        meter.note(frame)
        let (isFirst, endsUnits) = state.withLock { state in
            defer { (state.isFresh, state.carriesUnits) = (false, false) }
            return (state.isFresh, state.carriesUnits)
        }
        if endsUnits { endUnits() }
        if isFirst { video.markInterruption() }
        let size = frame.size
        setShown(&frame)
        video.consume(frame)
        if isFirst { listener.onFirst(size) }
    }

    func receive(_ unit: EncodedVideoFrame) {
        meter.note(.unit(unit))
        let (isFirst, isDecoded) = state.withLock { state in
            defer { (state.isFresh, state.carriesUnits) = (false, true) }
            return (state.isFresh, state.needsPicture)
        }
        if isFirst { video.markInterruption() }
        var unit = unit
        unit.liveTiming = liveTiming(of: unit, isReady: !isDecoded)
        let reach = video.offer(unit, asUnit: true)
        state.withLock { $0.needsPicture = reach.needsPicture }
        if isFirst {
            if let size = unit.size {
                listener.onFirst(size)
            } else if reach.needsPicture {
                state.withLock { $0.announcesPicture = true }
            } else {
                listener.onFirst(VideoSize(width: 0, height: 0))
            }
        }
        let isKey = unit.references == .none
        if !isKey, reach.needsKeyFrame { listener.onKeyFrameNeeded() }
        guard reach.needsPicture else { return decoder.end() }
        state.withLock { $0.codec = unit.codec }
        let disposition = decoder.decode(unit)
        if !isKey, disposition == .dropped(.needsKeyFrame) { listener.onKeyFrameNeeded() }
    }
}

extension RemoteVideo: DecodedTrack {
    func show(_ frame: consuming VideoFrame) -> FrameDisposition {
        var frame = frame
        let size = frame.size
        decoded.note()
        meter.remember(size)
        setShown(&frame)
        video.offer(frame, decodedFrom: state.withLock { $0.codec })
        let isFirst = state.withLock { state in
            defer { state.announcesPicture = false }
            return state.announcesPicture
        }
        if isFirst { listener.onFirst(size) }
        return .accepted
    }

    func decoderFailed(_ error: any Error) { listener.onFailure(error) }

    func requestKeyFrame() { listener.onKeyFrameNeeded() }
}
