internal import GStreamerKit
internal import MediaBasics
public import MediaBridge
internal import MediaCore
internal import Synchronization

extension PeerConnection {
    /// Returns an offer with its candidates. Called once. A sender offers its preferred codecs, a receiver all.
    ///
    /// - Throws: `PipelineError`; the connection is closed then.
    public func offer() async throws(PipelineError) -> String {
        try await beginning { () async throws(PipelineError) -> String in
            let streams = offeredStreams
            let link = try await open(streams)
            if media.hasDataChannel, let channel = link.bin.createChannel("messages") {
                take(channel)
            }
            setDirections(streams, in: link)
            return SessionDescription.interoperable(try await link.makeLocal(.offer))
        }
    }

    /// Takes the answer to ``offer()``.
    ///
    /// - Throws: `PipelineError`: `PipelineError.Code.nothingInCommon` if the peer has refused all streams. The
    ///   connection is closed then.
    public func accept(answer text: String) async throws(PipelineError) {
        guard let link = parts.withLock({ $0.link }) else { throw Self.closed }
        try await failing { () async throws(PipelineError) in
            let description = try SessionDescription(text)
            let streams = streams(in: description)
            guard !streams.isEmpty || media.hasDataChannel else { throw nothingInCommon }
            let cleaned = try description.cleaned(for: streams, keepingRefused: true)
            parts.withLock { $0.receiver }?.expect(streams)
            try await link.setRemote(.answer, cleaned.text)
            agree(on: streams, description, cleaned.lines, in: link)
        }
    }

    /// Takes an offer and returns the answer, with its candidates. Called once.
    ///
    /// - Throws: `PipelineError`: `PipelineError.Code.nothingInCommon` if no stream of the offer is of use,
    ///   `PipelineError.Code.badDescription`. The connection is closed then.
    public func answer(_ offer: String) async throws(PipelineError) -> String {
        try await beginning { () async throws(PipelineError) -> String in
            let description = try SessionDescription(offer)
            let streams = streams(in: description).sorted { $0.line < $1.line }
            guard !streams.isEmpty else { throw nothingInCommon }
            let cleaned = try description.cleaned(for: streams)
            let link = try await open(streams)
            parts.withLock { $0.receiver }?.expect(streams)
            link.bin.onChannel { [weak self] in self?.take($0) }
            try await link.setRemote(.offer, cleaned.text)
            setDirections(streams, in: link)
            let text = try await link.makeLocal(.answer)
            agree(on: streams, description, cleaned.lines, in: link)
            return description.completing(answer: text, lines: cleaned.lines)
        }
    }

    /// Adds a candidate of the peer. Ignores candidates with a host name instead of an address, TCP candidates,
    /// and invalid text.
    public func add(_ candidate: Candidate) {
        var text = candidate.text
        if text.hasPrefix("a=") { text.removeFirst(2) }
        guard CandidateText.isUsable(text) else { return }
        let usable = Candidate(text, mid: candidate.mid)
        let (link, line) = parts.withLock { parts -> (PeerPipeline?, Int?) in
            guard let lines = parts.lines else {
                if parts.early.count < Self.mostCandidates { parts.early.append(usable) }
                return (nil, nil)
            }
            return (parts.link, Self.line(of: usable, lines))
        }
        if let link, let line { link.bin.addCandidate(text, line: line) }
    }

    private static let mostCandidates = 128

    /// In a bundle all candidates belong to the first m-line.
    private static func line(of candidate: Candidate, _ lines: [String: Int]) -> Int {
        candidate.mid.flatMap { lines[$0] } ?? 0
    }

    // MARK: Steps

    private static var closed: PipelineError {
        PipelineError(.closed, message: "the connection is closed")
    }

    private var nothingInCommon: PipelineError {
        let names = codecs.compactMap { PayloadEncoding.of($0)?.name }.joined(separator: ", ")
        let direction = role == .sender ? "receives" : "sends"
        return PipelineError(
            .nothingInCommon, message: "the peer \(direction) none of \(names)",
            advice: "enable one of these codecs in the peer")
    }

    /// The error for a codec that connections do not support; `nil` if they support all codecs.
    private var unknownCodec: PipelineError? {
        codecs.first { PayloadEncoding.of($0) == nil }.map { codec in
            PipelineError(
                .nothingInCommon, message: "connections do not carry \(codec.name)",
                advice: "h264 or vp8; opus, alaw or mulaw")
        }
    }

    private var codecs: [PeerStream.Codec] {
        media.video.map { .video($0) } + media.audio.map { .audio($0) }
    }

    /// Returns the streams of the peer's description for which both sides have a codec.
    private func streams(in description: SessionDescription) -> [PeerStream] {
        let codecs = codecs
        return [.video, .audio].compactMap {
            description.stream(of: codecs, $0, isSending: role == .sender)
        }
    }

    /// The streams of an offer. The alternatives for one m-line have the same `line`.
    private var offeredStreams: [PeerStream] {
        let most = role == .sender ? 1 : Int.max
        let video = media.video.prefix(most).compactMap { PayloadEncoding.of(.video($0)) }
        let audio = media.audio.prefix(most).compactMap { PayloadEncoding.of(.audio($0)) }
        return (video + audio).map { encoding in
            let isVideo = encoding.codec.kind == .video
            return PeerStream(
                encoding: encoding, payload: encoding.offered,
                line: isVideo || video.isEmpty ? 0 : 1,
                transportNumbers: isVideo && role == .receiver ? 5 : nil,
                estimatesBitRate: isVideo)
        }
    }

    /// Runs the first step of a connection, which is possible only once.
    private func beginning(
        _ body: () async throws(PipelineError) -> String
    ) async throws(PipelineError) -> String {
        let refusal = parts.withLock { parts -> PipelineError? in
            if parts.isClosed { return Self.closed }
            defer { parts.isUsed = true }
            return parts.isUsed
                ? PipelineError(
                    .invalidState, message: "a connection makes only one description",
                    advice: "a new PeerConnection") : unknownCodec
        }
        if let refusal { throw refusal }
        return try await failing(body)
    }

    /// Closes the connection if `body` fails.
    private func failing<R>(
        _ body: () async throws(PipelineError) -> R
    ) async throws(PipelineError) -> R {
        do throws(PipelineError) { return try await body() } catch {
            await tearDown()
            events.failed(error)
            throw error
        }
    }

    /// Makes and starts the pipeline.
    private func open(_ streams: [PeerStream]) async throws(PipelineError) -> PeerPipeline {
        let sources = streams.map { _ in UInt32.random(in: 1...UInt32.max) }
        let text =
            role == .sender
            ? PeerPipelineText.sending(streams, sources: sources)
            : PeerPipelineText.receiving(
                streams.map(\.encoding),
                latency: Int(clamping: Int64(configuration.jitterBuffer / .milliseconds(1))))
        let link = try PeerPipeline(text, configuration, events)
        events.onConnected { [weak self] in self?.connected() }
        events.onEnd { [weak self] in
            guard let self else { return }
            Task { await self.tearDown() }
        }
        let senders = zip(streams, sources).compactMap { PeerSender($0, $1, in: link) }
        let monitor = PeerMonitor(events, mostBitRate: configuration.bitRate)
        let receiver =
            role == .sender
            ? nil
            : PeerReceiver(
                streams.map(\.codec), in: link, events,
                latency: MediaTime(configuration.jitterBuffer),
                onUnit: { [weak monitor] in monitor?.heard() })
        let isOpen = parts.withLock { parts in
            guard !parts.isClosed else { return false }
            (parts.link, parts.monitor, parts.receiver) = (link, monitor, receiver)
            if role == .sender {
                for sender in senders { parts.senders[sender.stream.codec.kind] = sender }
            }
            return true
        }
        guard isOpen else { throw Self.closed }
        try await link.start()
        if role == .receiver { try addTransceivers(streams, in: link) }
        return link
    }

    /// Makes webrtcbin receive the streams: one transceiver per m-line, with the alternatives as its caps.
    private func addTransceivers(
        _ streams: [PeerStream], in link: PeerPipeline
    ) throws(PipelineError) {
        for line in Set(streams.map(\.line)).sorted() {
            let text = streams.filter { $0.line == line }.map(PeerPipelineText.caps)
                .joined(separator: "; ")
            guard let caps = try? Caps(text), link.bin.addReceiver(of: caps) else {
                throw PipelineError(.failed, message: "webrtcbin cannot receive \(text)")
            }
        }
    }

    /// Sets the direction of each m-line, and the retransmission of lost video packets.
    private func setDirections(_ streams: [PeerStream], in link: PeerPipeline) {
        for (place, line) in Set(streams.map(\.line)).sorted().enumerated() {
            let isVideo = streams.contains { $0.line == line && $0.isVideo }
            link.bin.setTransceiver(
                at: place, isSending: role == .sender, retransmits: isVideo)
        }
    }

    /// Continues when both descriptions are set.
    private func agree(
        on streams: [PeerStream], _ description: SessionDescription, _ lines: [Int],
        in link: PeerPipeline
    ) {
        var places: [String: Int] = [:]
        for (number, line) in lines.enumerated() {
            if let mid = description.media[line].mid { places[mid] = number }
        }
        let limit = OneShotTimer(after: configuration.connectTimeout) { [weak self] in
            guard let self, state == .new || state == .connecting else { return }
            events.failed(
                PipelineError(
                    .unreachable, message: "no connection within \(configuration.connectTimeout)",
                    advice: "a STUN or TURN server on both sides; UDP open in the firewall"))
        }
        let early = parts.withLock { parts in
            defer { parts.early = [] }
            (parts.streams, parts.lines, parts.connectLimit) = (streams, places, limit)
            return parts.early
        }
        link.setReports(numbers: streams.lazy.compactMap(\.transportNumbers).first)
        events.changed(to: .connecting)
        for candidate in early {
            link.bin.addCandidate(candidate.text, line: Self.line(of: candidate, places))
        }
        link.bin.onPeerClosing { [events] in events.changed(to: .closed) }
    }

    /// Starts the media. Thread: that of the events.
    private func connected() {
        let (senders, monitor, link, receiver, limit) = parts.withLock { parts in
            (
                parts.senders, parts.monitor, parts.link, parts.receiver,
                parts.connectLimit.take()
            )
        }
        limit?.cancel()
        guard let link else { return }
        monitor?.begin(senders[.video], senders[.audio], in: link) { [weak receiver, weak link] in
            if let receiver, let link { receiver.checkProgress(packets: link.videoPackets) }
        }
        senders.values.forEach { $0.open() }
    }

    /// Takes the peer's first channel for messages and its first channel for the RTP clock. Ignores further ones.
    private func take(_ channel: DataChannel) {
        let isClock = role == .sender && channel.label == Self.clockLabel
        let place = isClock ? \Parts.clock : \Parts.messages
        let isFirst = parts.withLock { parts in
            guard parts[keyPath: place] == nil, !parts.isClosed else { return false }
            parts[keyPath: place] = channel
            return true
        }
        guard isFirst else { return }
        guard isClock else { return channel.begin(events) { $0.receive($1) } }
        channel.begin(events) { [weak self, weak channel] _, _ in
            guard let sender = self?.parts.withLock({ $0.senders[.video] }) else { return }
            let timestamp = withUnsafeBytes(of: sender.timestampNow.bigEndian) { Array($0) }
            _ = channel?.send(ChannelMessage(timestamp))
        }
    }

    /// The label of a data channel on which the sender replies to each message with the RTP timestamp of a video
    /// frame that is captured now. With it, a viewer measures the latency of the frames that it displays.
    private static let clockLabel = "rtp-clock"
}
