internal import MediaCore

/// A frame or unit that is played at a time.
protocol PlayedFrame {
    var runningTime: MediaTime? { get }
    var liveTiming: LiveTiming? { get set }
}

extension VideoFrame: PlayedFrame {}
extension EncodedVideoFrame: PlayedFrame {}
extension AudioFrame: PlayedFrame {}

extension PlayedFrame {
    /// Sets when a live frame of a user is played.
    ///
    /// - Parameters:
    ///   - isReady: Whether it is ready; otherwise it must still be decoded.
    mutating func delayPlayout(
        of stream: PlayoutDelay.Stream, by delay: PlayoutDelay, on clock: EngineClock,
        isReady: Bool = true
    ) {
        guard !clock.isOffline, let time = runningTime, let live = liveTiming else { return }
        liveTiming?.playoutDelay = delay.delay(
            of: stream, captured: time, latency: live.latency, isReady: isReady, now: clock.now)
    }
}
