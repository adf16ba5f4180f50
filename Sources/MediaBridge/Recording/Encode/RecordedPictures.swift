internal import Synchronization

/// Pictures on their way into a recording. Of a live stream that pauses while there is sound, the last one
/// is repeated once a second, so that the muxer need not wait with the sound.
///
/// Thread: any, one writer at a time, beside ``reach(_:)``.
final class RecordedPictures: Sendable {
    private let track: RecordingTrack
    private let wrapper = BufferWrapper()

    private struct State {
        /// Of a live stream. Lets go of another outside of the lock: its end may be the program's code.
        var last: VideoFrame?
        var repeated = 0
        /// Frames that are being handed over: they may wait for room, and nothing takes their place.
        var underWay = 0
    }
    private let state = Mutex(State())

    /// How far live sound may be ahead of pictures.
    private static let patience = MediaTime(nanoseconds: 1_000_000_000)

    /// Beyond this a gap stays one.
    private static let longestGap = MediaTime(nanoseconds: 10_000_000_000)

    init(_ track: RecordingTrack) { self.track = track }

    /// Pictures that stand in for others.
    var repeated: Int { state.withLock { $0.repeated } }

    /// Nothing is to be repeated any more.
    func end() { _ = state.withLock { $0.last.take() } }

    /// Hands a frame over.
    ///
    /// - Parameter onPlaced: Gets its place in the recorder's time.
    func consume(_ frame: VideoFrame, onPlaced: (MediaTime) -> Void) -> FrameDisposition {
        switch track.place(frame.runningTime, frame.liveTiming) {
        case .drop(let cause): return .dropped(cause)
        case .at(let placed):
            onPlaced(placed)
            begin(frame, placed)
            defer { finish() }
            return push(frame, placed, isLive: frame.liveTiming != nil)
        }
    }

    /// A frame is on its way: what would take its place must not overtake it.
    private func begin(_ frame: VideoFrame, _ placed: MediaTime) {
        var kept = frame
        kept.runningTime = placed
        _ = state.withLock { state -> VideoFrame? in
            state.underWay += 1
            guard kept.liveTiming != nil else { return nil }
            defer { state.last = kept }
            return state.last.take()
        }
    }

    private func finish() { state.withLock { $0.underWay -= 1 } }

    /// The same for a task, which is suspended while the encoder is slow.
    func write(
        _ frame: VideoFrame, onPlaced: (MediaTime) -> Void
    ) async throws -> FrameDisposition {
        switch track.place(frame.runningTime, frame.liveTiming) {
        case .drop(let cause): return .dropped(cause)
        case .at(let placed):
            onPlaced(placed)
            begin(frame, placed)
            defer { finish() }
            let wrapped = try wrapper.wrap(frame)
            let caps = wrapped.caps
            return try await track.write(frame, caps: caps, placed: placed)
        }
    }

    /// Sound has come so far: a live picture that does not change is still there.
    func reach(_ time: MediaTime) {
        let frame = state.withLock { state -> VideoFrame? in
            // One that is on its way is there, and is not to be overtaken.
            guard state.underWay == 0, var frame = state.last, let last = frame.runningTime,
                time - last > Self.patience
            else { return nil }
            // Where sound has jumped, pictures go with it.
            frame.runningTime = time - last > Self.longestGap ? time : last + Self.patience
            frame.duration = nil
            state.last = frame
            state.repeated += 1
            state.underWay += 1
            return frame
        }
        guard let frame, let place = frame.runningTime else { return }
        defer { finish() }
        _ = push(frame, place, isLive: true)
    }

    private func push(
        _ frame: VideoFrame, _ placed: MediaTime, isLive: Bool
    ) -> FrameDisposition {
        guard let wrapped = try? wrapper.wrap(frame) else { return track.refuse(.badFormat) }
        let caps = wrapped.caps
        return track.push(
            wrapped.buffer, caps: caps, placed: placed, duration: frame.duration,
            rotation: frame.rotation, isLive: isLive)
    }
}
