internal import FoundationEssentials
internal import MediaBridge

/// A recording in a report.
struct RecordingJSON: Encodable {
    let file, container, began, ended, state: String
    /// Whether the file does not state when it began.
    let estimated: Bool
    let seconds: Double
    let streams: [StreamJSON]
    /// The time without a recording before it, in seconds.
    let gap: Double
    /// Null for a container that does not show it.
    let complete: Bool?

    init(_ file: Recordings.File) {
        let length = MediaTime(file.duration).seconds
        (self.file, container, state) = (file.path, file.container.rawValue, file.state.rawValue)
        began = file.began.inMilliseconds
        ended = (file.began + length).inMilliseconds
        (estimated, seconds) = (file.isEstimated, length.inThousandths)
        streams = file.streams.map { StreamJSON($0) }
        gap = MediaTime(file.gapBefore ?? .zero).seconds.inThousandths
        complete = file.state == .unknown ? nil : file.state == .finished
    }
}

/// A stream of a recording in a report.
struct StreamJSON: Encodable {
    let kind, codec: String
    let width, height, rate, channels: Int?

    init(_ stream: Recordings.File.Stream) {
        (kind, codec) = (stream.kind, stream.codec)
        (width, height) = (stream.size?.width, stream.size?.height)
        (rate, channels) = (stream.sampleRate, stream.channelCount)
    }
}
