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
        (rate, channels) = (stream.sampleRate, stream.channels)
    }
}

/// An event of a detector in a report.
struct EventJSON: Encodable {
    let detector, stream: String
    /// Running time in seconds.
    let began: Double
    /// Absent while it lasts.
    let ended: Double?
    let score: Double

    init(_ event: DetectedEvent) {
        (detector, stream) = (event.detector, event.stream)
        began = event.began.seconds.inThousandths
        ended = event.ended?.seconds.inThousandths
        score = event.score.inThousandths
    }
}

/// A line of `ctl watch`.
struct NewsJSON: Encodable {
    /// `began` and `ended` of an event, `fileStarted` and `fileFinished` of a file.
    let type: String
    var event: EventJSON?
    var path: String?
    var file: ReportedFile?

    /// `nil` for news that are not passed on.
    init?(_ event: BridgeEvent) {
        guard case .detected(let detected) = event else { return nil }
        type = detected.ended == nil ? "began" : "ended"
        self.event = EventJSON(detected)
    }

    /// `nil` for news that are not passed on.
    init?(_ event: RecorderEvent) {
        switch event {
        case .fileStarted(let path, _): (type, self.path) = ("fileStarted", path)
        case .fileFinished(let file): (type, self.file) = ("fileFinished", ReportedFile(file))
        default: return nil
        }
    }

    /// Passes the news to the clients of a socket that watch.
    func publish(to socket: ControlSocket) {
        if let line = try? JSONLine.text(of: self) { socket.publish(line) }
    }
}

extension DetectedEvent {
    /// `motion at 12.40 s`, `motion ended at 15.20 s, after 2.80 s`
    var news: String {
        guard let ended else { return "\(detector) at \(Text.decimal(began.seconds, 2)) s" }
        let length = Text.decimal((ended - began).seconds, 2)
        return "\(detector) ended at \(Text.decimal(ended.seconds, 2)) s, after \(length) s"
    }
}
