internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Sends a track to the channel: its units if the channel carries their codec, its frames as they are,
/// converted, or encoded.
final class Publisher: Sendable {
    /// Sends frames and units unchanged, on the track's thread or on that of an encoder.
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
            let disposition = publication.send(frame)
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
    }
    private enum Way {
        case tap(Int)
        /// Through a queue with its own thread, on which frames are converted.
        case conversion(VideoSinkFeed)
        /// Frames through a queue with its own thread, on which they are encoded; units unchanged.
        case encoding(VideoSinkFeed, units: Int)
    }
    /// What a publisher needs of its engine and its track.
    struct Context: Sendable {
        let backend: any MediaBackend
        let clock: EngineClock
        /// How long the track waits for a slow conversion if no frame may be lost.
        let queueTimeout: Duration
        /// Counts what is sent.
        let sent: FlowMeter<VideoMedia>
        /// Counts what is encoded.
        let encoded: EncodingMeter
        /// Returns what matters in the pictures of the present source.
        let contentHint: @Sendable () -> VideoContentHint
        /// Called when frames cannot be encoded.
        let onFailure: @Sendable (any Error) -> Void
    }
    private let sender: Sender
    private let stream: VideoStream
    private let context: Context
    private let queue = SerialQueue(label: "mediabridge.publisher")
    private let encoder: PublicationEncoder
    private let way = Mutex<Way?>(nil)

    /// Starts to send the frames of `stream`.
    init(
        _ stream: VideoStream, to publication: any VideoPublication,
        _ configuration: VideoEncoderConfiguration, _ context: Context
    ) {
        let sender = Sender(publication, context.sent)
        self.sender = sender
        self.stream = stream
        self.context = context
        encoder = PublicationEncoder(
            context.backend, configuration, codecs: publication.codecs,
            isOffline: context.clock.isOffline, queueTimeout: context.queueTimeout,
            counting: context.encoded, hint: context.contentHint, send: { sender.consume($0) },
            onFailure: context.onFailure)
        send(configuration)
    }

    func setMuted(_ isMuted: Bool) { sender.publication.setMuted(isMuted) }

    /// Keeps what is encoded within a limit.
    func limit(_ limit: VideoLimit) { encoder.limit(limit) }

    /// Encodes nothing while nobody gets the track.
    func setPaused(_ isPaused: Bool) { encoder.setPaused(isPaused) }

    /// Makes the next encoded frame a key frame.
    ///
    /// - Returns: False if nothing is encoded here, so that the source has to be asked.
    func requestKeyFrame() -> Bool {
        guard case .encoding = way.withLock({ $0 }) else { return false }
        encoder.requestKeyFrame()
        return true
    }

    /// Changes the form of the frames that follow. No frame is lost or sent twice, except between frames
    /// that are encoded and others: there one may be left out.
    ///
    /// Called only by the engine, one call at a time.
    func send(_ configuration: VideoEncoderConfiguration) {
        encoder.configure(configuration)
        var request = configuration.request
        if configuration.codec != nil || !sender.publication.carriesFrames {
            request.codecs = sender.publication.codecs
            request.leavesUnits = true
            return encode(request)
        }
        switch way.withLock({ $0 }) {
        case .tap where request.isIdentity: return
        case nil where request.isIdentity:
            let tap = stream.tap(sender, taking: sender.publication.codecs)
            way.withLock { $0 = .tap(tap) }
        // Once frames go through a queue they always do, so that no frame overtakes another.
        case .conversion(let feed): stream.attach(feed, for: request)
        case .tap(let tap): convert(request, insteadOf: tap)
        case .encoding, nil:
            end()
            convert(request, insteadOf: nil)
        }
    }

    private func convert(_ request: RenderRequest, insteadOf tap: Int?) {
        let sender = self.sender
        let feed = makeFeed(counting: context.sent) { frame in sender.publication.send(frame) }
        way.withLock { $0 = .conversion(feed) }
        stream.attach(feed, for: request, insteadOf: tap)
    }

    private func encode(_ request: RenderRequest) {
        if case .encoding(let feed, _) = way.withLock({ $0 }) {
            return stream.attach(feed, for: request)
        }
        end()
        let encoder = self.encoder
        let feed = makeFeed(counting: context.encoded.frames) { encoder.encode($0) }
        let units = stream.tap(sender, taking: sender.publication.codecs, only: true)
        way.withLock { $0 = .encoding(feed, units: units) }
        stream.attach(feed, for: request)
    }

    private func makeFeed(
        counting meter: FlowMeter<VideoMedia>,
        _ body: @escaping @Sendable (VideoFrame) -> FrameDisposition
    ) -> VideoSinkFeed {
        VideoSinkFeed(
            SinkQueueOptions(), isOffline: context.clock.isOffline,
            queueTimeout: context.queueTimeout, on: queue, clock: context.clock.clockTime,
            counting: meter
        ) { item in
            // No unit comes here, because the request asks for pictures.
            guard case .picture(let frame) = item.frame,
                let frame = try? item.conversion?.frame() ?? frame
            else { return .dropped(.failed) }
            return body(frame)
        }
    }

    /// Ends the present way; queued frames are still sent.
    private func end() {
        let way = self.way.withLock { $0.take() }
        switch way {
        case .tap(let tap): stream.untap(tap)
        case .conversion(let feed):
            stream.detach(feed)
            feed.close()
            // What is queued is sent by the feed.
            queue.async { withExtendedLifetime(feed) {} }
        case .encoding(let feed, let units):
            stream.detach(feed)
            stream.untap(units)
            feed.close()
            queue.async { [encoder] in withExtendedLifetime(feed) { encoder.stop() } }
        case nil: return
        }
    }

    /// Sends the queued frames, then stops.
    ///
    /// - Parameter limit: The maximum time to wait for the queued frames.
    func stop(within limit: Duration) async {
        guard way.withLock({ $0 != nil }) else { return }
        end()
        await queue.outcome(within: limit) {}
        sender.publication.end()
    }
}

extension VideoEncoderConfiguration {
    /// The part that affects the pixels.
    fileprivate var request: RenderRequest {
        RenderRequest(
            size: size, isUpright: isUpright,
            mirror: mirror == .enabled ? .enabled : .disabled)
    }
}
