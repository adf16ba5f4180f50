internal import CMediaBridge
internal import CWebRTC
internal import GStreamerKit
internal import MediaBasics

/// A webrtcbin: one peer connection.
///
/// Its calls do not block; results and notifications arrive on GStreamer's threads. Thread: any, except
/// for the functions that wait.
///
/// Source: GStreamer's `webrtcbin`, which implements the W3C's `RTCPeerConnection`.
final class WebRTCBin: Sendable {
    /// The element, for its properties.
    let element: Element

    /// `nil` for an element that is not a webrtcbin.
    init?(_ element: Element) {
        guard element.factoryName == "webrtcbin" else { return nil }
        self.element = element
    }

    // MARK: Descriptions

    /// What a session description is.
    enum DescriptionKind: Int32, Sendable {
        /// Proposes a session.
        case offer = 1
        /// Accepts a part of it.
        case answer = 3
    }

    /// Creates an offer of what the pads and transceivers send and receive.
    func createOffer() async throws(PipelineError) -> String {
        try await created("create-offer", "offer")
    }

    /// Creates the answer to the remote description.
    func createAnswer() async throws(PipelineError) -> String {
        try await created("create-answer", "answer")
    }

    private func created(_ action: String, _ field: String) async throws(PipelineError) -> String {
        let text = try await promised(action) { promise in
            mb_webrtc_create(element.pointer, action, promise)
            return true
        } read: { promise in
            mb_promise_description(promise, field).map { text in
                defer { g_free(text) }
                return String(cString: text)
            }
        }
        guard let text else {
            throw PipelineError(
                .streamFailed, element: element.path, message: "\(action) returned no description")
        }
        return text
    }

    /// Sets the description of this side.
    func setLocal(
        _ kind: DescriptionKind, _ text: String
    ) async throws(PipelineError) {
        try await set("set-local-description", kind, text)
    }

    /// Sets the description that the peer sent.
    func setRemote(
        _ kind: DescriptionKind, _ text: String
    ) async throws(PipelineError) {
        try await set("set-remote-description", kind, text)
    }

    private func set(
        _ action: String, _ kind: DescriptionKind, _ text: String
    ) async throws(PipelineError) {
        try await promised(action) { promise in
            mb_webrtc_set(element.pointer, action, kind.rawValue, text, promise) != 0
        } read: { _ in
        }
    }

    /// The description of this side, with the candidates that have been gathered; `nil` if it is not set.
    var localDescription: String? {
        guard let text = mb_webrtc_description(element.pointer, "local-description") else {
            return nil
        }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// How long webrtcbin may take to create or set a description.
    private static let deadline = Duration.seconds(8).asDefaultDeadline

    private func promised<R: Sendable>(
        _ action: String, _ ask: (UnsafeMutablePointer<GstPromise>) -> Bool,
        read: @escaping @Sendable (UnsafeMutablePointer<GstPromise>) -> R
    ) async throws(PipelineError) -> R {
        let result = await WebRTCPromise.result(within: Self.deadline, ask, read: read)
        switch result {
        case .kept(let value): return value
        case .refused:
            throw PipelineError(
                .streamFailed, element: element.path, message: "\(action): invalid SDP")
        case .failed(let reason):
            throw PipelineError(
                .streamFailed, element: element.path, message: "\(action): \(reason)")
        case .late:
            throw PipelineError(
                .deadlineExceeded, element: element.path,
                message: "\(action) took longer than \(Self.deadline)")
        }
    }

    // MARK: Transceivers

    /// The direction of media.
    enum Direction: Int32, Sendable {
        /// No media is sent or received.
        case inactive = 1
        /// Sent only.
        case sendOnly = 2
        /// Received only.
        case receiveOnly = 3
    }

    /// Adds a transceiver for media that is received.
    func addReceiver(of caps: Caps) -> Bool {
        guard
            let transceiver = mb_webrtc_add_transceiver(
                element.pointer, Direction.receiveOnly.rawValue, caps.pointer)
        else { return false }
        g_object_unref(transceiver)
        return true
    }

    /// Sets the direction of a transceiver, and whether lost packets are sent again.
    ///
    /// - Returns: False if there is no transceiver at that place.
    func setTransceiver(
        at place: Int, _ direction: Direction, retransmits: Bool
    ) -> Bool {
        mb_webrtc_set_transceiver(
            element.pointer, guint(place), direction.rawValue, retransmits ? 1 : 0) != 0
    }

    // MARK: ICE

    /// Prevents the connection from asking routers to open ports.
    func disableUPnP() { _ = mb_webrtc_disable_upnp(element.pointer) }

    /// Gathers candidates at this address; if no address is added, at all except loopback addresses.
    ///
    /// - Returns: False if the text is not an address.
    func addLocalAddress(_ address: String) -> Bool {
        mb_webrtc_add_local_address(element.pointer, address) != 0
    }

    /// Uses a TURN server, given as `turn://USER:PASSWORD@HOST:PORT`, user and password escaped.
    func addTurnServer(_ uri: String) -> Bool {
        mb_webrtc_add_turn_server(element.pointer, uri) != 0
    }

    /// Adds a candidate of the peer.
    ///
    /// - Parameter line: The number of the m-line to which it belongs.
    func addCandidate(_ candidate: String, line: Int) {
        mb_webrtc_add_candidate(element.pointer, guint(line), candidate)
    }

    /// Gathers and uses only candidates of TURN servers.
    func relayOnly() { element.set("ice-transport-policy", "relay") }

    /// Calls `body` with every candidate of this side and the number of its m-line, on a thread of
    /// GStreamer. Everything that `body` captures lives as long as the element.
    func onCandidate(_ body: @escaping @Sendable ((line: Int, text: String)) -> Void) {
        mb_webrtc_on_candidate(
            element.pointer,
            { _, line, candidate, context in
                guard let candidate else { return }
                SignalListener<(line: Int, text: String)>.call(
                    context, (line: Int(line), text: String(cString: candidate)))
            }, SignalListener<(line: Int, text: String)>.context(body), SignalRelease.function)
    }

    // MARK: State

    /// The state of a connection.
    enum ConnectionState: Int32, Sendable {
        case new = 0
        case connecting = 1
        case connected = 2
        case disconnected = 3
        case failed = 4
        case closed = 5
    }

    /// The state of the connection.
    var connectionState: ConnectionState {
        ConnectionState(rawValue: mb_get_enum(element.pointer, "connection-state")) ?? .new
    }

    /// Whether all candidates of this side are known.
    var hasGathered: Bool { mb_get_enum(element.pointer, "ice-gathering-state") == 2 }

    /// Calls `body` when ``connectionState`` changes, on a thread of GStreamer.
    func onConnectionChange(_ body: @escaping @Sendable () -> Void) {
        element.onChange(of: "connection-state", body)
    }

    /// Calls `body` when ``hasGathered`` may have changed, on a thread of GStreamer.
    func onGatheringChange(_ body: @escaping @Sendable () -> Void) {
        element.onChange(of: "ice-gathering-state", body)
    }

    /// Calls `body` when the peer has closed the connection, on a thread of GStreamer. Call it when both
    /// descriptions are set.
    func onPeerClosing(_ body: @escaping @Sendable () -> Void) {
        guard let transport = mb_webrtc_transport(element.pointer) else { return }
        defer { g_object_unref(transport) }
        mb_on_notify(
            transport, "notify::state",
            { transport, _, context in
                guard let transport, mb_get_enum(transport, "state") == 1 else { return }
                SignalListener<Void>.call(context, ())
            }, SignalListener<Void>.context(body), SignalRelease.function)
    }

    /// Notifies the peer that the connection is closed, and waits at most 0.5 s until the notification is
    /// sent.
    func sayGoodbye(in pipeline: Pipeline) async {
        let encoders = pipeline.elements.filter { $0.factoryName == "dtlsenc" }
        _ = await pipeline.control.run(within: .milliseconds(500)) {
            for encoder in encoders {
                let isSent = MonotonicSignal()
                encoder.pad("src")?.onBuffer { isSent.signal() }
                mb_dtls_say_goodbye(encoder.pointer)
                isSent.wait(for: .milliseconds(50))
            }
        }
    }

    /// Sends packets as soon as they arrive, without the latency of the sources: the packets are already
    /// on time.
    func sendAtOnce(in pipeline: Pipeline) {
        for inner in pipeline.elements where inner.factoryName == "clocksync" {
            inner.set("sync", "false")
        }
    }
}
