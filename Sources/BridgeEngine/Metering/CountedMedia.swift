internal import MediaCore

/// The kinds of media, pictures and sound, as far as the engine's counters differ.
protocol CountedMedia: Sendable {
    associatedtype Frame: MediaFrame
    associatedtype Arrivals: ArrivalMeter where Arrivals.Frame == Frame
}

/// A frame of pictures or of sound.
protocol MediaFrame: Sendable {
    var runningTime: MediaTime? { get }
    var liveTiming: LiveTiming? { get }
    /// Whether the frame contains nothing.
    var isEmpty: Bool { get }
}

/// Counts the frames that arrive at one point. Thread: any.
protocol ArrivalMeter: Sendable {
    associatedtype Frame
    init()
    func note(_ frame: borrowing Frame)
    var frames: Int { get }
}

enum VideoMedia: CountedMedia {
    typealias Frame = VideoFrame
    typealias Arrivals = FrameMeter
}

enum AudioMedia: CountedMedia {
    typealias Frame = AudioFrame
    typealias Arrivals = AudioMeter
}

extension VideoFrame: MediaFrame {
    var isEmpty: Bool { false }
}

extension AudioFrame: MediaFrame {
    var isEmpty: Bool { sampleCount == 0 }
}
