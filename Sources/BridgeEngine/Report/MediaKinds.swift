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

/// The content of a video track: a picture, or an encoded frame that has not been decoded.
enum VideoItem: MediaFrame {
    case picture(VideoFrame)
    case unit(EncodedVideoFrame)

    var runningTime: MediaTime? {
        switch self {
        case .picture(let frame): frame.runningTime
        case .unit(let unit): unit.runningTime
        }
    }

    var liveTiming: LiveTiming? {
        switch self {
        case .picture(let frame): frame.liveTiming
        case .unit(let unit): unit.liveTiming
        }
    }

    /// Whether it is an encoded frame.
    var isUnit: Bool { if case .unit = self { true } else { false } }

    var isEmpty: Bool {
        switch self {
        case .picture(let frame): frame.isEmpty
        case .unit(let unit): unit.isEmpty
        }
    }

    var unitReferences: EncodedVideoFrameReferences? {
        switch self {
        case .picture: nil
        case .unit(let unit): unit.references
        }
    }

    /// The size of the picture; `nil` for a unit if only its bytes contain the size.
    var size: VideoSize? {
        switch self {
        case .picture(let frame): frame.size
        case .unit(let unit): unit.size
        }
    }
}
