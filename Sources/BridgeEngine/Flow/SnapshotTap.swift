internal import MediaCore

/// Waits for one frame of a stream. Thread: any.
final class SnapshotTap: VideoFrameConsumer {
    private let once: Once<VideoFrame>
    private let timer: OneShotTimer

    /// - Parameter once: Gets the first frame, or nothing after `limit`.
    init(_ once: Once<VideoFrame>, _ limit: Duration) {
        self.once = once
        timer = OneShotTimer(after: limit) { once.resume(nil) }
    }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        timer.cancel()
        once.resume(frame)
        return .accepted
    }
}
