internal import Synchronization

/// Passes video frames to a track. If a live stream pauses while there is audio, its last picture
/// is repeated once a second, so that the muxer need not hold the audio back.
///
/// Thread: any, one writer at a time; ``reach(_:)`` may be called concurrently.
final class RecordedPictures: Sendable {
    private let track: RecordingTrack

    private struct State {
        /// The last frame of a live stream. A replaced frame is released outside of the lock,
        /// because its release may run code of the program.
        var last: VideoFrame?
        var repeated = 0
        /// Number of frames being pushed. They may wait for room; no repetition may overtake them.
        var underWay = 0
    }
    private let state = Mutex(State())
    private let size: VideoSize?
    private let converter = FrameConverter()

    /// How far live audio may be ahead of the video before the last picture is repeated.
    private static let maximumLead = MediaTime(nanoseconds: 1_000_000_000)

    /// Gaps longer than this are not filled.
    private static let longestGap = MediaTime(nanoseconds: 10_000_000_000)

    /// - Parameter size: See ``VideoEncoding/size``.
    init(_ track: RecordingTrack, _ size: VideoSize?) {
        self.track = track
        self.size = size
    }

    private func scaled(_ frame: VideoFrame) throws -> VideoFrame {
        guard let size else { return frame }
        var scaled = try converter.convert(
            frame, to: VideoConversion(size: size, rotation: frame.rotation))
        scaled.rotation = .none
        return scaled
    }

    /// Number of repetitions.
    var repeated: Int { state.withLock { $0.repeated } }

    /// Stops repeating pictures.
    func end() { _ = state.withLock { $0.last.take() } }

    /// Pushes a frame. Blocks while the encoder is slow.
    ///
    /// - Parameter onPlaced: Called with the frame's time in the recorder's time.
    func consume(_ frame: VideoFrame, onPlaced: (MediaTime) -> Void) -> FrameDisposition {
        switch track.place(frame.runningTime, frame.liveTiming) {
        case .drop(let cause): return .dropped(cause)
        case .at(let placed):
            guard let frame = try? scaled(frame) else { return track.refuse(.badFormat) }
            onPlaced(placed)
            begin(frame, placed)
            defer { finish() }
            return push(frame, placed, isLive: frame.liveTiming != nil)
        }
    }

    /// Notes that a frame is being pushed, so that no repetition overtakes it.
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

    /// Pushes a frame like `consume`, but suspends while the encoder is slow.
    func write(
        _ frame: VideoFrame, onPlaced: (MediaTime) -> Void
    ) async throws -> FrameDisposition {
        switch track.place(frame.runningTime, frame.liveTiming) {
        case .drop(let cause): return .dropped(cause)
        case .at(let placed):
            guard let frame = try? scaled(frame) else { return track.refuse(.badFormat) }
            onPlaced(placed)
            begin(frame, placed)
            defer { finish() }
            let wrapped = try frame.wrapped()
            let caps = wrapped.caps
            return try await track.write(frame, caps: caps, placed: placed)
        }
    }

    /// Called when the audio has reached `time`: repeats the last live picture if it is too far
    /// behind.
    func reach(_ time: MediaTime) {
        let frame = state.withLock { state -> VideoFrame? in
            // A frame being pushed is not missing, and must not be overtaken.
            guard state.underWay == 0, var frame = state.last, let last = frame.runningTime,
                time - last > Self.maximumLead
            else { return nil }
            // If the audio has jumped forward, the video follows it.
            frame.runningTime = time - last > Self.longestGap ? time : last + Self.maximumLead
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
        guard let wrapped = try? frame.wrapped() else { return track.refuse(.badFormat) }
        let caps = wrapped.caps
        return track.push(
            wrapped.buffer, caps: caps, placed: placed, duration: frame.duration,
            rotation: frame.rotation, isLive: isLive)
    }
}
