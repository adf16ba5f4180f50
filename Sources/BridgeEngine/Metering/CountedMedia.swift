internal import MediaCore

/// The kinds of media, pictures and sound, as far as the engine's counters differ.
protocol CountedMedia: Sendable {
    associatedtype Frame: MediaFrame
    associatedtype Arrivals: ArrivalMeter where Arrivals.Frame == Frame
}

/// Counts the frames that arrive at one point. Thread: any.
protocol ArrivalMeter: Sendable {
    associatedtype Frame
    init()
    func note(_ frame: borrowing Frame)
    var frames: Int { get }
}

enum VideoMedia: CountedMedia {
    typealias Frame = VideoItem
    typealias Arrivals = FrameMeter
}

enum AudioMedia: CountedMedia {
    typealias Frame = AudioFrame
    typealias Arrivals = AudioMeter
}
