/// A frame of pictures or of sound.
package protocol MediaFrame: Sendable {
    /// When the frame is due, in the running time of its source; `nil` if it has no time.
    var runningTime: MediaTime? { get }
    /// Timing of a live source; `nil` on frames of any other.
    var liveTiming: LiveTiming? { get }
    /// Whether the frame contains nothing.
    var isEmpty: Bool { get }
}

extension VideoFrame: MediaFrame {
    package var isEmpty: Bool { false }
}

extension AudioFrame: MediaFrame {
    package var isEmpty: Bool { sampleCount == 0 }
}
