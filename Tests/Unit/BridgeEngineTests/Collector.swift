import MediaCore
import Synchronization

/// Keeps every frame it receives, and returns a configurable result.
final class Collector: VideoFrameConsumer {
    private let kept = Mutex<[VideoFrame]>([])
    private let answer: FrameDisposition

    init(answering answer: FrameDisposition = .accepted) { self.answer = answer }

    var frames: [VideoFrame] { kept.withLock { $0 } }

    @discardableResult
    func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
        let frame = copy frame
        kept.withLock { $0.append(frame) }
        return answer
    }
}
