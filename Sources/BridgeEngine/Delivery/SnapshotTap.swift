internal import MediaBasics
internal import MediaCore

/// Takes one frame of a stream. Thread: any.
final class SnapshotTap: VideoFrameConsumer {
    private let once: Once<VideoFrame>

    init(_ once: Once<VideoFrame>) { self.once = once }

    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        once.resume(frame)
        return .accepted
    }
}
