internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Sends a track's frames to the channel, or its units if the channel carries their codec.
final class Publisher: Sendable {
    /// Sends frames unchanged, on the track's thread.
    private final class Sender: VideoFrameConsumer {
        let publication: any VideoPublication
        let meter: FlowMeter<VideoMedia>

        init(_ publication: any VideoPublication, _ meter: FlowMeter<VideoMedia>) {
            self.publication = publication
            self.meter = meter
        }

        @discardableResult
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            meter.offered.note(frame)
            let disposition = send(frame)
            meter.note(disposition)
            return disposition
        }

        @discardableResult
        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
            meter.offered.note(.unit(unit))
            let disposition = publication.send(unit)
            meter.note(disposition)
            return disposition
        }

        func send(_ frame: consuming VideoFrame) -> FrameDisposition {
            publication.send(frame)
        }
    }
    private enum Way {
        case tap(Int)
        /// Through a queue with its own thread, on which frames are converted.
        case feed(VideoSinkFeed)
    }
    private let sender: Sender
    private let stream: VideoStream
    private let clock: EngineClock
    private let queueTimeout: Duration
    private let way = Mutex<Way?>(nil)

    /// Starts to send the frames of `stream`.
    ///
    /// - Parameters:
    ///   - publication: Sends them.
    ///   - request: The conversion to apply to each frame first.
    ///   - queueTimeout: How long the track waits for a slow conversion if no frame may be lost.
    init(
        _ stream: VideoStream, to publication: any VideoPublication,
        _ request: RenderRequest, clock: EngineClock, queueTimeout: Duration,
        counting meter: FlowMeter<VideoMedia>
    ) {
        sender = Sender(publication, meter)
        self.stream = stream
        self.clock = clock
        self.queueTimeout = queueTimeout
        if request.isIdentity {
            let tap = stream.tap(sender, taking: publication.codecs)
            way.withLock { $0 = .tap(tap) }
        } else {
            send(request)
        }
    }

    func setMuted(_ isMuted: Bool) { sender.publication.setMuted(isMuted) }

    /// Changes the conversion of the frames that follow; no frame is lost or sent twice at the
    /// change.
    ///
    /// Called only by the engine, one call at a time.
    func send(_ request: RenderRequest) {
        switch way.withLock({ $0 }) {
        case .tap where request.isIdentity: return
        // Once frames go through a queue they always do, so that no frame overtakes another.
        case .feed(let feed): stream.attach(feed, for: request)
        case .tap(let tap): attach(request, insteadOf: tap)
        case nil: attach(request, insteadOf: nil)
        }
    }

    private func attach(_ request: RenderRequest, insteadOf tap: Int?) {
        let sender = self.sender
        let feed = VideoSinkFeed(
            SinkQueueOptions(), isOffline: clock.isOffline, queueTimeout: queueTimeout,
            on: SerialQueue(label: "mediabridge.publisher"), clock: clock.clockTime,
            counting: sender.meter
        ) { item in
            // No unit comes here, because the request asks for pictures.
            guard case .picture(let frame) = item.frame,
                let frame = try? item.conversion?.frame() ?? frame
            else { return .dropped(.failed) }
            return sender.send(frame)
        }
        way.withLock { $0 = .feed(feed) }
        stream.attach(feed, for: request, insteadOf: tap)
    }

    /// Sends the queued frames, then stops.
    ///
    /// - Parameter limit: The maximum time to wait for the queued frames.
    func stop(within limit: Duration) async {
        let way = self.way.withLock { way in
            defer { way = nil }
            return way
        }
        switch way {
        case .tap(let tap): stream.untap(tap)
        case .feed(let feed):
            stream.detach(feed)
            feed.close()
            await feed.drained(within: limit)
        case nil: return
        }
        sender.publication.end()
    }
}
