internal import BridgeEngine
internal import GStreamerKit
internal import Glibc
internal import MediaBasics
internal import MediaBridge
internal import MediaCore
internal import Synchronization

/// The pipeline of one peer connection, from its first description to its end.
///
/// Thread: any but a streaming thread.
final class PeerPipeline: Sendable {
    let pipeline: Pipeline
    let bin: WebRTCBin
    /// The shared clock's time at the pipeline's running time zero.
    let origin: ClockTime
    /// The timeline of sent media.
    let timeline: SendTimeline
    /// The kind of media of each of the peer's sources (SSRC).
    private let sources = Mutex<[UInt32: MediaKind]>([:])
    private let configuration: PeerConnection.Configuration

    /// Parses the pipeline.
    init(
        _ text: String, _ configuration: PeerConnection.Configuration, _ events: PeerEvents
    ) throws(PipelineError) {
        OpenSSLExit.prevent()
        // If one of these is missing, webrtcbin never connects, and only logs the reason.
        for element in ["webrtcbin", "nicesrc", "dtlssrtpdec", "srtpenc"] {
            try ElementFactory.require(element)
        }
        pipeline = try Pipeline(parsing: text)
        guard let bin = pipeline.element(named: PeerPipelineText.bin).flatMap({ WebRTCBin($0) })
        else { throw PipelineError(.missingElement, message: "webrtcbin not found") }
        self.bin = bin
        self.configuration = configuration
        origin = SharedClock.now
        timeline = SendTimeline(origin: MediaTime(origin))
        pipeline.useSharedClock(baseTime: origin)
        bin.useOnlyUDP()
        bin.correctTimesSlowly(in: pipeline)
        for address in configuration.localAddresses { bin.addLocalAddress(address) }
        if configuration.isRelayOnly { bin.element.set("ice-transport-policy", "relay") }
        for server in configuration.iceServers {
            if server.hasPrefix("stun") {
                bin.element.set(literally: "stun-server", server)
            } else if !bin.addTurnServer(server) {
                throw PipelineError(
                    .badServer, message: "webrtcbin does not accept one of the TURN servers",
                    advice: "turn://USER:PASSWORD@HOST:PORT, user and password percent-escaped")
            }
        }
        // On a thread of GStreamer, like the other notifications.
        bin.element.onChange(of: "connection-state") { [weak bin] in
            if let state = bin?.connectionState { events.changed(to: state) }
        }
        pipeline.onFirstError { error in
            // A browser that closes the connection aborts the data channels first.
            if error.element?.contains("GstSctp") == true {
                events.dataChannelsAborted(error)
            } else {
                events.failed(error)
            }
        }
    }

    /// Starts the pipeline: webrtcbin accepts no description before.
    func start() async throws(PipelineError) {
        try await pipeline.setState(.playing)
    }

    /// Sets the peer's description. If webrtcbin rejects it, the error is attributed to the peer.
    func setRemote(_ kind: WebRTCBin.DescriptionKind, _ text: String) async throws(PipelineError) {
        do throws(PipelineError) { try await bin.set(.remote, kind, text) } catch {
            var reason = error
            if reason.code != .missingElement, reason.code != .deadlineExceeded {
                reason.code = .badDescription
            }
            throw reason
        }
    }

    /// Creates the description of this side, sets it, and returns it with its candidates.
    func makeLocal(_ kind: WebRTCBin.DescriptionKind) async throws(PipelineError) -> String {
        let text = try await bin.create(kind)
        try await bin.set(.local, kind, text)
        bin.sendAtOnce(in: pipeline)
        await waitForCandidates()
        let complete = bin.localDescription ?? text
        guard !configuration.isRelayOnly || complete.contains("a=candidate:") else {
            throw PipelineError(
                .badServer, message: "no TURN server allocated a relay",
                advice:
                    "check the address, user and password of the TURN server, and whether the password has expired"
            )
        }
        return complete
    }

    /// The timeout for a relay, without which there is no candidate at all.
    private static let relayTimeout = Duration.seconds(5).asDefaultDeadline

    private func waitForCandidates() async {
        let bin = self.bin
        let limit = max(
            configuration.gatheringTimeout,
            configuration.isRelayOnly ? Self.relayTimeout : .zero)
        let gathered = Latch()
        bin.element.onChange(of: "ice-gathering-state") { [weak bin] in
            if bin?.hasGathered == true { gathered.open() }
        }
        if bin.hasGathered { gathered.open() }
        _ = await gathered.wait(for: limit)
    }

    /// Stops the pipeline: no callback follows.
    func stop() async {
        for sink in pipeline.appSinks.values { sink.removeHandlers() }
        if bin.connectionState == .connected { await bin.sayGoodbye(in: pipeline) }
        _ = try? await pipeline.setState(.null)
    }
}

// MARK: - Receiving

extension PeerPipeline {
    /// The counts of the jitter buffers: packets that arrived, were lost, or were retransmitted.
    var arrival: [MediaKind: JitterBufferStatistics] {
        jitterBuffers.reduce(into: [:]) { sum, next in
            guard let counts = next.0.jitterBufferStatistics else { return }
            sum[next.1, default: JitterBufferStatistics()].add(counts)
        }
    }

    /// The number of received video packets.
    var videoPackets: Int { arrival[.video]?.pushed ?? 0 }

    /// Configures the RTCP reports. Called when both descriptions are set.
    ///
    /// - Parameter numbers: The ID of the header extension for transport-wide sequence numbers; `nil` without it.
    func setReports(numbers: Int?) {
        bin.reportAtOnce()
        if let numbers {
            let seen = SeenNumbers()
            bin.filterNumbers(ofExtension: numbers, in: pipeline) { seen.isNew($0) }
        }
        guard configuration.isPeerJanus else { return }
        bin.onOwnControlPacket { [weak self] packet in
            guard let self else { return }
            let kinds = self.sources.withLock { $0 }
            ReportForJanus.adjust(packet) { kinds[$0] == .video }
        }
    }

    /// The maximum correction of audio timestamps, in nanoseconds per packet. ``AudioContinuity`` mistakes
    /// faster corrections for jitter of the arrival, and audio and video would lose their synchronisation.
    private static let soundCorrection = "1000000"

    /// Registers the kind of media of a source. Only the lost packets of video are requested again: in a bundle,
    /// webrtcbin applies the setting of one source to all of them.
    func note(source: UInt32, sends kind: MediaKind) {
        sources.withLock { $0[source] = kind }
        for (buffer, kind) in jitterBuffers {
            buffer.set("do-retransmission", kind == .video ? "true" : "false")
            if kind == .audio { buffer.set("max-ts-offset-adjustment", Self.soundCorrection) }
        }
    }

    /// The jitter buffers of the known sources.
    private var jitterBuffers: [(Element, MediaKind)] {
        let kinds = sources.withLock { $0 }
        return pipeline.elements.filter { $0.factoryName == "rtpjitterbuffer" }.compactMap {
            buffer in
            let source = buffer.pad("sink")?.packetSource
            return source.flatMap { kinds[$0] }.map { (buffer, $0) }
        }
    }
}

// MARK: - PeerPipelineText

/// The gst-launch string of one peer connection.
enum PeerPipelineText {
    /// The names of elements in the string.
    static let bin = "peer"
    static func source(_ kind: MediaKind) -> String { "\(kind.rawValue)-units" }
    static func payloader(_ kind: MediaKind) -> String { "\(kind.rawValue)-payloader" }
    static func depayloader(_ codec: PeerStream.Codec) -> String { "\(codec.label)-depayloader" }
    static func sink(_ codec: PeerStream.Codec) -> String { "\(codec.label)-units" }

    /// The maximum packet size in bytes, which fits through every tunnel.
    private static let packetSize = 1200

    /// Returns the string of a sending connection.
    ///
    /// - Parameter sources: The source number (SSRC) of each stream. The caps include it, because
    ///   no media has flowed when the description is made, and a browser shows nothing without it.
    static func sending(_ streams: [PeerStream], sources: [UInt32]) -> String {
        var text = "webrtcbin name=\(bin) bundle-policy=max-bundle latency=0 "
        for (stream, source) in zip(streams, sources) {
            let kind = stream.codec.kind
            text += "appsrc name=\(Self.source(kind)) is-live=true format=time ! "
            text += stream.encoding.payloader
            text +=
                " name=\(payloader(kind)) pt=\(stream.payload) ssrc=\(source) mtu=\(packetSize) ! "
            text += "\(caps(of: stream)),ssrc=(uint)\(source) ! \(bin). "
        }
        return text
    }

    /// Returns the string of a receiving connection. A pad is linked to the depayloader of its
    /// encoding when the pad appears.
    static func receiving(_ encodings: [PayloadEncoding], latency: Int) -> String {
        var text = "webrtcbin name=\(bin) bundle-policy=max-bundle latency=\(latency) "
        for encoding in encodings {
            let name = depayloader(encoding.codec)
            text += "\(encoding.depayloader) name=\(name) \(encoding.depayloaderTail) ! "
            text += "appsink name=\(sink(encoding.codec)) sync=false async=false "
        }
        return text
    }

    /// Returns the caps of a stream's packets.
    static func caps(of stream: PeerStream) -> String {
        var text =
            "application/x-rtp,media=\(stream.codec.kind.rawValue),"
            + "encoding-name=\(stream.encoding.name),"
            + "clock-rate=\(stream.encoding.clockRate),payload=\(stream.payload)"
        if let channels = stream.encoding.channels {
            text += ",encoding-params=(string)\(channels)"
        }
        guard stream.isVideo else { return text }
        // No full intra requests (FIR): if both are possible, GStreamer requests keyframes only by
        // FIR. Janus ignores them, so a loss would freeze the picture permanently.
        text += ",rtcp-fb-nack=(boolean)true,rtcp-fb-nack-pli=(boolean)true"
        if stream.estimatesBitRate { text += ",rtcp-fb-goog-remb=(boolean)true" }
        if let number = stream.transportNumbers {
            text +=
                ",rtcp-fb-transport-cc=(boolean)true"
                + ",extmap-\(number)=(string)\(SessionDescription.transportNumbersURI)"
        }
        return text
    }
}

// MARK: - OpenSSLExit

/// Lets processes exit while threads of DTLS still run.
///
/// OpenSSL frees its memory in an `atexit` handler. GStreamer's DTLS elements still use the memory from their
/// threads, up to seconds after a connection is closed, so some exits crashed. Without the handler, the system
/// frees the memory.
///
/// Source: `OPENSSL_init_crypto(3)`.
enum OpenSSLExit {
    /// Keeps OpenSSL 3 from registering the handler. Must be called before GStreamer's DTLS plugin is loaded. Has
    /// no effect if the program itself has used OpenSSL before. A second call does nothing.
    static func prevent() { _ = prevention }

    /// OPENSSL_INIT_NO_ATEXIT
    private static let noExitHandler: UInt64 = 0x0008_0000

    private static let prevention: Bool = {
        // The plugin is linked with this library. It stays loaded.
        guard let library = dlopen("libcrypto.so.3", RTLD_NOW),
            let symbol = dlsym(library, "OPENSSL_init_crypto")
        else { return false }
        typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> Int32
        return unsafeBitCast(symbol, to: Initialize.self)(noExitHandler, nil) == 1
    }()
}
