internal import BridgeEngine
internal import MediaBridgeWebRTC
internal import MediaCore

/// Maintains the connection that receives from one remote participant, within one session. The
/// server offers, this side answers. If video comes with audio and is not wanted, the server is
/// asked not to send it.
struct ReceivingConnection: Sendable {
    let media: IncomingMedia
    /// The `mid`s of the participant's streams; `nil` for a stream it does not have.
    let (video, audio): (String?, String?)
    let configuration: PeerConnection.Configuration
    let reconnection: RestartPolicy
    /// Returns the request to join as a subscriber, without the streams.
    let request: @Sendable () -> [String: JSONValue]
    /// Attaches a handle; called for each connection.
    let attach: @Sendable () async throws(JanusFailure) -> JanusHandle
    /// Called with the handle when it is no longer needed.
    let release: @Sendable (JanusHandle) -> Void
    /// Called with each connection, and with `nil` when it has ended.
    let onConnection: @Sendable (PeerConnection?) -> Void

    /// Runs until the task is cancelled or the participant stops publishing.
    func run() async {
        var attempt = 0
        while !Task.isCancelled {
            do {
                try await connect { attempt = 0 }
            } catch {
                switch ReconnectReason(error) {
                case .impossible(let reason) where reason.code == .badServer: break
                case .over, .impossible: return
                // The participant has not arrived yet, or has left; the events of the room decide
                // which.
                case .permanent(let failure)
                where failure.code != JanusFailure.noSuchFeed
                    && failure.code != JanusFailure.coreUnable:
                    return
                case .permanent, .broken, .recoded: break
                }
            }
            attempt += 1
            try? await Task.sleep(for: reconnection.randomDelay(after: attempt - 1))
        }
    }

    private func connect(onConnected: () -> Void) async throws {
        let handle = try await attach()
        defer { release(handle) }
        let (offer, mid) = try await join(handle)
        let signals = media.signals.renew()
        var configuration = configuration
        configuration.isPeerJanus = true
        let connection = PeerConnection(
            .receiver,
            PeerConnection.Media(
                video: video == nil ? [] : [.h264, .vp8], audio: audio == nil ? [] : [.opus]),
            configuration: configuration, observer: media)
        media.setConnection(connection)
        onConnection(connection)
        let result: (any Error)?
        do {
            let answer = try await connection.answer(offer)
            let sends = media.wantsVideo
            if !sends { await setSending(false, mid, handle) }
            _ = try await handle.request(["request": "start"], jsep: (type: "answer", sdp: answer))
            try await serve(connection, signals, handle, (mid, sends), onConnected)
            result = nil
        } catch {
            result = error
        }
        media.setConnection(nil)
        onConnection(nil)
        await connection.close()
        if let result { throw result }
    }

    /// - Returns: The server's offer, and the `mid` of the video in it.
    private func join(
        _ handle: JanusHandle
    ) async throws -> (offer: String, videoMid: String?) {
        let feed = JSONValue.string(media.feed.description)
        let mids = [video, audio].compactMap { $0 }
        var body = request()
        body["streams"] = .array(mids.map { ["feed": feed, "mid": .string($0)] })
        let answer = try await handle.request(body)
        guard let jsep = answer.jsep, jsep.type == "offer" else {
            throw ReconnectReason.broken("the Janus server did not offer the requested streams")
        }
        let videoMid = answer.plugindata?.data?.streams?.first { $0.type == "video" }?.mid
        return (DescriptionText.withoutUnusedFeedback(jsep.sdp), videoMid)
    }

    /// Asks the server to send video or not. Waits for the answer, because Janus may handle a later
    /// request first.
    private func setSending(_ isSending: Bool, _ videoMid: String?, _ handle: JanusHandle) async {
        guard let videoMid else { return }
        _ = try? await handle.request([
            "request": "configure",
            "streams": [["mid": .string(videoMid), "send": .bool(isSending)]],
        ])
    }

    /// Handles candidates and changes until the connection ends.
    private func serve(
        _ connection: PeerConnection, _ signals: AsyncStream<PeerSignal>, _ handle: JanusHandle,
        _ video: (mid: String?, sends: Bool), _ onConnected: () -> Void
    ) async throws {
        var sends = video.sends
        for await signal in signals {
            try signal.apply(to: connection)
            if case .state(.connected) = signal { onConnected() }
            let wantsVideo = media.wantsVideo
            guard case .changed = signal, wantsVideo != sends else { continue }
            sends = wantsVideo
            await setSending(sends, video.mid, handle)
            if sends { media.requestKeyFrame() }
        }
        throw ReconnectReason.over
    }
}

/// Reads and changes session descriptions.
enum DescriptionText {
    /// Removes the feedback that the server offers but does not support. Janus ignores full intra
    /// requests (FIR), but GStreamer would request keyframes only by FIR: a loss would freeze the
    /// video permanently. Janus ignores reports on the packets it sends, and GStreamer would send
    /// twenty of them a second.
    static func withoutUnusedFeedback(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline)
            .filter { line in
                guard line.hasPrefix("a=rtcp-fb:") else {
                    return !(line.hasPrefix("a=extmap:") && line.contains("transport-wide-cc"))
                }
                let kind = line.split(whereSeparator: \.isWhitespace).dropFirst()
                return !kind.starts(with: ["ccm", "fir"]) && kind.first != "transport-cc"
            }
            .map { "\($0)\r\n" }.joined()
    }
}
