internal import CMediaBridge
internal import CWebRTC
internal import GStreamerKit
internal import MediaBasics
internal import Synchronization

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

    /// The kind of a session description.
    enum DescriptionKind: String, Sendable {
        case offer, answer

        /// The value of GstWebRTCSDPType.
        fileprivate var value: gint { self == .offer ? 1 : 3 }
    }

    /// Creates an offer for the media of the pads and transceivers, or the answer to the remote description.
    func create(_ kind: DescriptionKind) async throws(PipelineError) -> String {
        let action = "create-\(kind)"
        let text = try await promised(action) { promise in
            mb_webrtc_create(element.pointer, action, promise)
            return true
        } read: { promise in
            String(adopting: mb_promise_description(promise, kind.rawValue))
        }
        guard let text else {
            throw PipelineError(
                .streamFailed, element: element.path, message: "\(action) returned no description")
        }
        return text
    }

    enum Side: Sendable { case local, remote }

    /// Sets the description of a side.
    func set(
        _ side: Side, _ kind: DescriptionKind, _ text: String
    ) async throws(PipelineError) {
        let action = "set-\(side)-description"
        try await promised(action) { promise in
            mb_webrtc_set(element.pointer, action, kind.value, text, promise) != 0
        } read: { _ in
        }
    }

    /// The description of this side, with the candidates that have been gathered; `nil` if it is not set.
    var localDescription: String? {
        String(adopting: mb_webrtc_description(element.pointer, "local-description"))
    }

    /// How long webrtcbin may take to create or set a description.
    private static let deadline = Duration.seconds(8).asDefaultDeadline

    /// Makes a request of the element, and returns what `read` takes from the reply.
    ///
    /// - Parameters:
    ///   - ask: Makes the request. Returns false if the element does not accept it.
    ///   - read: Called on a thread of GStreamer; the reply is valid only during the call.
    private func promised<R: Sendable>(
        _ action: String, _ ask: (UnsafeMutablePointer<GstPromise>) -> Bool,
        read: @escaping @Sendable (UnsafeMutablePointer<GstPromise>) -> R
    ) async throws(PipelineError) -> R {
        let path = element.path
        let result = Once<Result<R, PipelineError>>()
        result.expire(after: Self.deadline)
        typealias Reply = SignalListener<UnsafeMutablePointer<GstPromise>>
        let promise = mb_promise_new(
            { promise, context in
                if let promise { Reply.call(context, promise) }
            },
            Reply.context { promise in
                guard let failure = String(adopting: mb_promise_failure(promise)) else {
                    result.resume(.success(read(promise)))
                    return
                }
                result.resume(
                    .failure(
                        PipelineError(
                            .streamFailed, element: path, message: "\(action): \(failure)")))
            }, { if let context = $0 { Unmanaged<AnyObject>.fromOpaque(context).release() } })
        if let promise {
            if !ask(promise) {
                result.resume(
                    .failure(
                        PipelineError(
                            .streamFailed, element: path, message: "\(action): invalid SDP")))
            }
            mb_promise_unref(promise)
        }
        guard let outcome = await result.value() else {
            throw PipelineError(
                .deadlineExceeded, element: path,
                message: "\(action) took longer than \(Self.deadline)")
        }
        return try outcome.get()
    }

    // MARK: Transceivers

    /// The values of `GstWebRTCRTPTransceiverDirection` for media that is only sent or received.
    private static let (sendOnly, receiveOnly): (Int32, Int32) = (2, 3)

    /// Adds a transceiver for media that is received.
    func addReceiver(of caps: Caps) -> Bool {
        guard
            let transceiver = mb_webrtc_add_transceiver(
                element.pointer, Self.receiveOnly, caps.pointer)
        else { return false }
        g_object_unref(transceiver)
        return true
    }

    /// Sets the direction of a transceiver, and whether lost packets are retransmitted.
    func setTransceiver(at place: Int, isSending: Bool, retransmits: Bool) {
        _ = mb_webrtc_set_transceiver(
            element.pointer, guint(place), isSending ? Self.sendOnly : Self.receiveOnly,
            retransmits ? 1 : 0)
    }

    // MARK: ICE

    /// Prevents the connection from asking routers to open ports, and from using TCP, except to TURN servers.
    func useOnlyUDP() { _ = mb_webrtc_use_only_udp(element.pointer) }

    /// Gathers candidates at this address; if no address is added, at all except loopback addresses. Ignores
    /// text that is not an address.
    func addLocalAddress(_ address: String) {
        _ = mb_webrtc_add_local_address(element.pointer, address)
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

    // MARK: State

    enum ConnectionState: Int32, Sendable {
        case new, connecting, connected, disconnected, failed, closed
    }

    var connectionState: ConnectionState {
        ConnectionState(rawValue: mb_get_enum(element.pointer, "connection-state")) ?? .new
    }

    /// Whether all candidates of this side are known.
    var hasGathered: Bool { mb_get_enum(element.pointer, "ice-gathering-state") == 2 }

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

// MARK: - RTCP

extension WebRTCBin {
    /// Calls `body` with each RTCP packet of the peer, on the thread that receives it. Call it when both
    /// descriptions are set.
    func onControlPacket(_ body: @escaping @Sendable ([UInt8]) -> Void) {
        guard let session = mb_webrtc_session(element.pointer) else { return }
        defer { g_object_unref(session) }
        mb_on_rtcp(
            session,
            { _, packet, context in
                guard let packet, let bytes = MappedBuffer(Buffer(retaining: packet)) else {
                    return
                }
                SignalListener<[UInt8]>.call(
                    context, bytes.bytes.withUnsafeBytes { Array($0) })
            }, SignalListener<[UInt8]>.context(body), SignalRelease.function)
    }

    /// Calls `body` with the bytes of each RTCP packet before it is sent, on the thread that sends it; it may
    /// change them. Call it when both descriptions are set.
    func onOwnControlPacket(
        _ body: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
    ) {
        guard let session = mb_webrtc_session(element.pointer) else { return }
        defer { g_object_unref(session) }
        mb_on_own_rtcp(
            session,
            { _, packet, _, context in
                var map = GstMapInfo()
                guard let packet, gst_buffer_map(packet, &map, GST_MAP_WRITE) != 0 else { return 0 }
                SignalListener<UnsafeMutableRawBufferPointer>.call(
                    context, UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size)))
                gst_buffer_unmap(packet, &map)
                return 0
            }, SignalListener<UnsafeMutableRawBufferPointer>.context(body), SignalRelease.function)
    }

    /// Sends requests for lost packets immediately, and reports often. Call it when both descriptions are set.
    ///
    /// By default RTCP may use only a share of the bandwidth of one video stream. This allows a request every 0.2
    /// to 0.7 s, and the report on every picture's packets uses it up, so most packets would be resent too late.
    /// Reports on packets are sent every 50 ms, as bit rate estimation requires. Reports on streams are sent every
    /// 0.5 s instead of every 5 s: Janus keeps no packets for retransmission until reports have given it the
    /// round-trip time, and browsers synchronise audio and video only once they have the reports.
    ///
    /// Source: RFC 4585, section 3.5.2, and GStreamer's `rtpsession`, which implements it.
    func reportAtOnce() {
        guard let session = mb_webrtc_session(element.pointer) else { return }
        mb_session_set_feedback(session, 20_000_000, 50_000_000, 500_000_000)
        g_object_unref(session)
    }

    /// Calls `isNew` with the transport-wide sequence number of each packet from the peer, on the thread that
    /// receives it. A packet whose number is not new is treated as a packet without a number. Call it when both
    /// descriptions are set.
    ///
    /// - Parameter id: The identifier of the number's header extension.
    func filterNumbers(
        ofExtension id: Int, in pipeline: Pipeline,
        _ isNew: @escaping @Sendable (UInt16) -> Bool
    ) {
        for inner in pipeline.elements where inner.factoryName == "rtpsession" {
            inner.pad("recv_rtp_sink")?.filterNumbers(ofExtension: id, isNew)
        }
    }

    /// Applies timestamp corrections from the sender's reports gradually: 5 ms per packet. This is less than the
    /// interval between any two pictures, so no picture is due before the previous one.
    func correctTimesSlowly(in pipeline: Pipeline) {
        for inner in pipeline.elements where inner.factoryName == "rtpbin" {
            inner.set("max-ts-offset-adjustment", "5000000")
        }
    }
}
