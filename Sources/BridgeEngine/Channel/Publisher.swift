internal import MediaBasics
internal import MediaCore
internal import Synchronization

/// Sends a track to the channel: units unchanged if the channel carries their codec, and frames
/// unchanged, converted or encoded.
final class Publisher: Sendable {
    /// Sends frames and units unchanged, on the track's thread or on that of an encoder.
    private final class Sender: VideoFrameConsumer {
        let publication: any ChannelPublication
        let meter: FlowMeter<VideoMedia>
        /// Whether the units that are sent now come from the source, not from an encoder.
        let sendsUnitsOfSource = Atomic<Bool>(false)

        init(_ publication: any ChannelPublication, _ meter: FlowMeter<VideoMedia>) {
            self.publication = publication
            self.meter = meter
        }

        @discardableResult
        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            let frame = frame
            return send(.picture(frame), .picture(frame))
        }

        @discardableResult
        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
            send(.unit(unit), .unit(unit))
        }

        private func send(_ item: VideoItem, _ media: ChannelMedia) -> FrameDisposition {
            meter.offered.note(item)
            let disposition = publication.send(media)
            meter.note(disposition)
            return disposition
        }
    }
    /// Sends the source's units alongside an encoder, starting with a key frame.
    private final class UnitSender: VideoFrameConsumer {
        private let sender: Sender
        let units: AcceptedUnits
        private let onKeyFrameNeeded: @Sendable () -> Void
        private let chain = Mutex(ReferenceChain())

        init(
            _ sender: Sender, of units: AcceptedUnits,
            onKeyFrameNeeded: @escaping @Sendable () -> Void
        ) {
            self.sender = sender
            self.units = units
            self.onKeyFrameNeeded = onKeyFrameNeeded
        }

        func consume(_ frame: consuming VideoFrame) -> FrameDisposition {
            .dropped(.wrongBufferType)
        }

        func consume(_ unit: EncodedVideoFrame) -> FrameDisposition {
            let references = unit.references
            let (isUsable, isNew) = chain.withLock { chain in
                let isUsable = chain.admits(references)
                return (isUsable, isUsable ? false : chain.lose())
            }
            guard isUsable else {
                sender.meter.offered.note(.unit(unit))
                if isNew { onKeyFrameNeeded() }
                return sender.meter.drops.refuse(.needsKeyFrame)
            }
            sender.sendsUnitsOfSource.store(true, ordering: .relaxed)
            return sender.consume(unit)
        }
    }
    private enum Route {
        /// Unchanged through a tap.
        case tap
        /// Through a queue with its own thread, on which frames are converted.
        case conversion(VideoSinkFeed)
        /// Frames through a queue with its own thread, on which they are encoded; units unchanged
        /// through a tap, unless their pictures must be changed.
        case encoding(VideoSinkFeed, units: UnitSender?)
    }
    /// The dependencies of a publisher on its engine and its track.
    struct Context: Sendable {
        let backend: any MediaBackend
        let clock: EngineClock
        /// How long a frame waits for a slow conversion or the encoder if none may be lost.
        let queueTimeout: Duration
        /// Counts what is sent.
        let sent: FlowMeter<VideoMedia>
        /// Counts what is encoded.
        let encoded: EncodingMeter
        /// Returns the content hint of the current source.
        let contentHint: @Sendable () -> VideoContentHint
        /// Asks the source for a key frame.
        let onKeyFrameNeeded: @Sendable () -> Void
        /// Called if no encoder is available, or when one has failed and no other can take over.
        let onFailure: @Sendable (any Error) -> Void
        /// Called with what happened when another encoder takes over.
        var onTakeover: @Sendable (String) -> Void = { _ in }
    }
    private let sender: Sender
    private let stream: VideoStream
    private let context: Context
    private let queue = SerialQueue(label: "mediabridge.publisher")
    let encoder: PublicationEncoder
    private let route = Mutex<Route?>(nil)
    /// The requested configuration. Locked while it is applied.
    private let form: Mutex<VideoEncoderConfiguration>
    /// Locked while the publication is muted or sent again.
    private let muting = Mutex(())

    /// Starts to send the frames of `stream`.
    init(
        _ stream: VideoStream, to publication: any ChannelPublication,
        _ configuration: VideoEncoderConfiguration, _ context: Context
    ) {
        let sender = Sender(publication, context.sent)
        self.sender = sender
        self.stream = stream
        self.context = context
        form = Mutex(configuration)
        encoder = PublicationEncoder(
            configuration, context, codecs: { publication.videoCodecs },
            send: { sender.consume($0) })
        send(configuration)
    }

    /// Mutes the publication, or sends it again. Calls from several threads follow one another, so the
    /// last one applies the latest value.
    ///
    /// - Parameter isMuted: Returns whether the track is muted now.
    func updateMuting(_ isMuted: () -> Bool) {
        muting.withLock { _ in sender.publication.setMuted(isMuted()) }
    }

    /// Makes the next encoded frame a key frame.
    ///
    /// - Returns: False if this publisher does not encode, so that the source must be asked.
    func requestKeyFrame() -> Bool {
        guard case .encoding = route.withLock({ $0 }),
            !sender.sendsUnitsOfSource.load(ordering: .relaxed)
        else { return false }
        encoder.requestKeyFrame()
        return true
    }

    /// Changes the form of the following frames. No frame is lost or sent twice, except at a change
    /// between encoded and other frames, where one may be dropped.
    func send(_ configuration: VideoEncoderConfiguration) {
        form.withLock { form in
            form = configuration
            apply(configuration)
        }
    }

    /// Sends the following frames in a codec that the publication carries now.
    ///
    /// - Returns: False if none of these codecs has an encoder, or if the configuration names
    ///   another codec.
    func codecsChanged() -> Bool {
        form.withLock { form in
            let codecs = sender.publication.videoCodecs
            let choices = form.codec.map { [$0] } ?? context.backend.encodableCodecs
            guard choices.contains(where: codecs.contains) else { return false }
            apply(form)
            return true
        }
    }

    private func apply(_ configuration: VideoEncoderConfiguration) {
        encoder.configure(configuration)
        var request = configuration.request
        if configuration.codec != nil || !sender.publication.carriesFrames {
            if request.isIdentity {
                request.units = sender.publication.units
                request.leavesUnits = true
            }
            return encode(request)
        }
        switch route.withLock({ $0 }) {
        case .tap where request.isIdentity: return
        case nil where request.isIdentity:
            stream.tap(sender, taking: sender.publication.units)
            route.withLock { $0 = .tap }
        // Once frames pass through a queue they always do, so that no frame overtakes another.
        case .conversion(let feed): stream.attach(feed, for: request)
        case .tap: convert(request, insteadOf: sender)
        case .encoding, nil:
            end()
            convert(request, insteadOf: nil)
        }
    }

    private func convert(_ request: RenderRequest, insteadOf tap: Sender?) {
        let sender = self.sender
        let feed = makeFeed(counting: context.sent) { frame in
            sender.publication.send(.picture(frame))
        }
        route.withLock { $0 = .conversion(feed) }
        stream.attach(feed, for: request, insteadOf: tap)
    }

    private func encode(_ request: RenderRequest) {
        let (feed, tap): (VideoSinkFeed, UnitSender?)
        if case .encoding(let present, let units) = route.withLock({ $0 }) {
            (feed, tap) = (present, units)
        } else {
            end()
            let (encoder, sender) = (self.encoder, self.sender)
            feed = makeFeed(counting: context.encoded.frames) { frame in
                sender.sendsUnitsOfSource.store(false, ordering: .relaxed)
                return encoder.encode(frame)
            }
            tap = nil
        }
        let units: UnitSender?
        if request.leavesUnits, tap == nil || tap?.units == request.units {
            units = tap ?? tapUnits(request.units)
        } else {
            if let tap { stream.untap(tap) }
            units = request.leavesUnits ? tapUnits(request.units) : nil
            // The receivers have only the source's units so far.
            encoder.requestKeyFrame()
        }
        route.withLock { $0 = .encoding(feed, units: units) }
        stream.attach(feed, for: request)
    }

    private func tapUnits(_ units: AcceptedUnits) -> UnitSender {
        let own = UnitSender(sender, of: units, onKeyFrameNeeded: context.onKeyFrameNeeded)
        stream.tap(own, taking: units, only: true)
        return own
    }

    private func makeFeed(
        counting meter: FlowMeter<VideoMedia>,
        _ body: @escaping @Sendable (VideoFrame) -> FrameDisposition
    ) -> VideoSinkFeed {
        VideoSinkFeed(
            SinkQueueOptions(), clock: context.clock, queueTimeout: context.queueTimeout, on: queue,
            counting: meter
        ) { item in
            // No unit arrives here, because the request asks for pictures.
            guard case .picture(let frame) = item.frame,
                let frame = try? item.conversion?.frame() ?? frame
            else { return .dropped(.failed) }
            return body(frame)
        }
    }

    /// Ends the current route of sending; queued frames are still sent.
    private func end() {
        let route = self.route.withLock { $0.take() }
        switch route {
        case .tap: stream.untap(sender)
        case .conversion(let feed):
            stream.detach(feed)
            feed.close()
            // The feed still sends its queued frames.
            queue.async { withExtendedLifetime(feed) {} }
        case .encoding(let feed, let units):
            stream.detach(feed)
            if let units { stream.untap(units) }
            feed.close()
            queue.async { [encoder] in withExtendedLifetime(feed) { encoder.stop() } }
        case nil: return
        }
    }

    /// Sends the queued frames, then stops.
    ///
    /// - Parameter limit: The maximum time to wait for the queued frames.
    func stop(within limit: Duration) async {
        guard route.withLock({ $0 != nil }) else { return }
        end()
        await queue.outcome(within: limit, on: context.clock.timeline) {}
        sender.publication.end()
    }
}

extension ChannelPublication {
    /// The units that it carries unchanged.
    fileprivate var units: AcceptedUnits {
        AcceptedUnits(codecs: videoCodecs, includesReordered: carriesReorderedUnits)
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
