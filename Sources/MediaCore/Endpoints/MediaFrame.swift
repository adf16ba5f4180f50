/// A frame of pictures or of sound.
package protocol MediaFrame: Sendable {
    /// When the frame is due, in the running time of its source; `nil` if it has no time.
    var runningTime: MediaTime? { get }
    /// Timing of a live source; `nil` on frames of any other.
    var liveTiming: LiveTiming? { get }
    /// Whether the frame contains nothing.
    var isEmpty: Bool { get }
    /// Which other units an encoded unit refers to; `nil` for a frame that stands by itself.
    var unitReferences: EncodedVideoFrameReferences? { get }
}

extension MediaFrame {
    package var unitReferences: EncodedVideoFrameReferences? { nil }
}

extension VideoFrame: MediaFrame {
    package var isEmpty: Bool { false }
}

extension EncodedVideoFrame: MediaFrame {
    package var isEmpty: Bool { byteCount == 0 }
}

extension EncodedAudioFrame: MediaFrame {
    package var isEmpty: Bool { byteCount == 0 }
}

extension AudioFrame: MediaFrame {
    package var isEmpty: Bool { sampleCount == 0 }
}
