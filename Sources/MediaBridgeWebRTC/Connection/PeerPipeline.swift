internal import BridgeEngine
internal import GStreamerKit
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
    let sources = Mutex<[UInt32: MediaKind]>([:])
    private let events: PeerEvents
    let configuration: PeerConnection.Configuration

    /// Parses the pipeline.
    init(
        _ text: String, _ configuration: PeerConnection.Configuration, _ events: PeerEvents
    ) throws(PeerError) {
        OpenSSLExit.prevent()
        do throws(PipelineError) {
            // If one of these is missing, webrtcbin never connects, and only logs the reason.
            for element in ["webrtcbin", "nicesrc", "dtlssrtpdec", "srtpenc"] {
                try ElementFactory.require(element)
            }
            pipeline = try Pipeline(parsing: text)
            guard let bin = pipeline.element(named: PeerPipelineText.bin).flatMap({ WebRTCBin($0) })
            else { throw PipelineError(.missingElement, message: "webrtcbin not found") }
            self.bin = bin
        } catch {
            throw PeerError(error)
        }
        self.configuration = configuration
        self.events = events
        origin = SharedClock.now
        timeline = SendTimeline(origin: MediaTime(origin))
        pipeline.useSharedClock(baseTime: origin)
        bin.disableUPnP()
        bin.correctTimesSlowly(in: pipeline)
        for address in configuration.localAddresses { _ = bin.addLocalAddress(address) }
        if configuration.isRelayOnly { bin.relayOnly() }
        for server in configuration.servers {
            if server.hasPrefix("stun") {
                bin.element.set(literally: "stun-server", server)
            } else if !bin.addTurnServer(server) {
                throw PeerError(
                    .badServer, message: "webrtcbin does not accept one of the TURN servers",
                    advice: "turn://USER:PASSWORD@HOST:PORT, user and password percent-escaped")
            }
        }
        bin.onCandidate { events.found($0.text, line: $0.line) }
        bin.onConnectionChange { [weak bin] in
            if let state = bin?.connectionState { events.changed(to: state) }
        }
        pipeline.onFirstError { error in
            // A browser that closes the connection aborts the data channels first.
            if error.element?.contains("GstSctp") == true {
                events.dataChannelsAborted(PeerError(error))
            } else {
                events.failed(PeerError(error))
            }
        }
    }

    /// Starts the pipeline: webrtcbin accepts no description before.
    func start() async throws(PeerError) {
        do throws(PipelineError) { try await pipeline.setState(.playing) } catch {
            throw PeerError(error)
        }
    }

    /// Sets the peer's description. If webrtcbin rejects it, the error is attributed to the peer.
    func setRemote(_ kind: WebRTCBin.DescriptionKind, _ text: String) async throws(PeerError) {
        do throws(PipelineError) { try await bin.setRemote(kind, text) } catch {
            let reason = PeerError(error)
            guard reason.code == .failed else { throw reason }
            throw PeerError(.badDescription, message: reason.message, advice: reason.advice)
        }
    }

    /// Creates the description of this side, sets it, and returns it with its candidates.
    ///
    /// - Parameter isComplete: Whether to wait for the candidates.
    func makeLocal(
        _ kind: WebRTCBin.DescriptionKind, isComplete: Bool
    ) async throws(PeerError) -> String {
        let text: String
        do throws(PipelineError) {
            text = try await kind == .offer ? bin.createOffer() : bin.createAnswer()
            try await bin.setLocal(kind, text)
        } catch {
            throw PeerError(error)
        }
        bin.sendAtOnce(in: pipeline)
        guard isComplete else { return text }
        await waitForCandidates()
        let complete = bin.localDescription ?? text
        guard !configuration.isRelayOnly || complete.contains("a=candidate:") else {
            throw PeerError(
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
        bin.onGatheringChange { [weak bin] in if bin?.hasGathered == true { gathered.open() } }
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

extension PeerError {
    init(_ error: PipelineError) {
        let code: Code =
            switch error.code {
            case .missingElement: .missingElement
            case .deadlineExceeded: .deadlineExceeded
            default: .failed
            }
        var reason = error
        reason.advice = nil
        self.init(code, message: reason.description, advice: error.advice)
    }
}
