internal import BridgeEngine
internal import MediaBridge
internal import MediaBridgeWebRTC
internal import MediaCore

/// Maintains one sending connection while anything is to be sent, within one session: offers,
/// publishes, and replaces a connection that fails.
///
/// The connection always has a place for both streams, so that announcing one does not interrupt
/// the other. The streams' descriptions show the other users what is announced and what is muted.
struct SendingConnection: Sendable {
    let media: OutgoingMedia
    let configuration: PeerConnection.Configuration
    let reconnection: RestartPolicy
    let hasAudio: Bool
    /// Returns the handle that publishes; called for each connection.
    let attach: @Sendable () async throws(JanusFailure) -> JanusHandle
    /// Called with the handle when it is no longer needed.
    let release: @Sendable (JanusHandle) -> Void

    /// Runs until the task is cancelled, nothing is announced any more, or sending has failed
    /// permanently.
    ///
    /// - Returns: Why sending failed; `nil` if the connection is no longer needed.
    func run() async -> EngineError? {
        var attempt = 0
        while !Task.isCancelled, media.isAnnounced {
            do {
                try await connect { attempt = 0 }
            } catch {
                switch ReconnectReason(error) {
                case .over: return nil
                // The server had no network, or a TURN server provided no relay.
                case .permanent(let failure)
                where media.hasWorked && failure.code == JanusFailure.coreUnable: break
                case .impossible(let reason) where media.hasWorked && reason.code == .badServer:
                    break
                case .permanent(let failure):
                    return EngineError(
                        failure.code == JanusFailure.publishersFull ? .channelFull : .sendingFailed,
                        message: "the Janus server refused the track: \(failure.message)",
                        advice: failure.code == JanusFailure.publishersFull
                            ? "raise \"publishers\" of the room" : nil)
                case .impossible(let reason):
                    return EngineError(
                        .sendingFailed, message: "the track cannot be sent: \(reason.message)",
                        advice: reason.advice, underlying: reason)
                case .recoded:
                    attempt = 0
                    continue
                case .broken: break
                }
            }
            attempt += 1
            try? await Task.sleep(for: reconnection.randomDelay(after: attempt - 1))
        }
        return nil
    }

    private func connect(onConnected: () -> Void) async throws {
        let handle = try await attach()
        // An offer names one codec: that of the frames, which the encoder or the source has chosen.
        await media.waitForCodec(atMost: .seconds(2))
        let signals = media.signals.renew()
        // If the room refuses the codec and video has failed, only audio is sent.
        let codec = media.mayHaveVideo ? media.videoCodec : nil
        let connection = PeerConnection(
            .sender,
            PeerConnection.Media(
                video: codec.map { [$0] } ?? [], audio: hasAudio ? [.opus] : []),
            configuration: configuration, observer: media)
        media.setConnection(connection)
        let result: (any Error)?
        do {
            let mids = try await negotiate(connection, codec, handle)
            try await serve(connection, codec, signals, handle, mids, onConnected)
            result = nil
        } catch {
            result = error
        }
        media.setConnection(nil)
        await connection.close()
        _ = try? await handle.request(["request": "unpublish"])
        release(handle)
        if let result { throw result }
    }

    private static func noVideo(_ refused: Set<VideoCodec>) -> EngineError {
        let names = refused.labels.joined(separator: " or ")
        let others = OutgoingMedia.codecs.subtracting(refused).labels.joined(separator: " or ")
        return EngineError(
            .sendingFailed, message: "the room does not accept \(names)",
            advice: "set videocodec = \"h264,vp8\" for the room"
                + (others.isEmpty ? "" : ", or send \(others)"))
    }

    /// The stream modes announced to the other users, by `mid`.
    private struct Announced {
        let video: String?
        let audio: String?
        var modes: (video: Feed.Stream.Mode, audio: Feed.Stream.Mode)

        var descriptions: JSONValue {
            let pairs = [(video, modes.video), (audio, modes.audio)]
            return .array(
                pairs.compactMap { mid, mode in
                    mid.map { ["mid": .string($0), "description": .string(mode.rawValue)] }
                })
        }
    }

    private func negotiate(
        _ connection: PeerConnection, _ codec: VideoCodec?, _ handle: JanusHandle
    ) async throws -> Announced {
        let offer = try await connection.offer()
        let sections = try SessionDescription(offer).media
        let announced = Announced(
            video: sections.first { $0.kind == .video }?.mid,
            audio: sections.first { $0.kind == .audio }?.mid, modes: media.modes)
        let answer = try await handle.request(
            ["request": "publish", "descriptions": announced.descriptions],
            jsep: (type: "offer", sdp: offer))
        guard let jsep = answer.jsep, jsep.type == "answer" else {
            throw ReconnectReason.broken("the Janus server did not answer the offer")
        }
        do throws(PipelineError) { try await connection.accept(answer: jsep.sdp) } catch {
            if error.code == .nothingInCommon, let codec, await media.refuse(codec) {
                throw ReconnectReason.recoded
            }
            throw error
        }
        if let codec, connection.videoCodec == nil {
            if await media.refuse(codec) { throw ReconnectReason.recoded }
            media.failVideo(Self.noVideo(media.refusedCodecs))
            throw hasAudio ? ReconnectReason.recoded : .over
        }
        return announced
    }

    /// Handles candidates and changes until the connection ends.
    private func serve(
        _ connection: PeerConnection, _ codec: VideoCodec?,
        _ signals: AsyncStream<PeerSignal>, _ handle: JanusHandle, _ first: Announced,
        _ onConnected: () -> Void
    ) async throws {
        var announced = first
        var isConnected = false
        for await signal in signals {
            try signal.apply(to: connection)
            if case .state(.connected) = signal {
                isConnected = true
                onConnected()
                media.setConnected(true)
            }
            if case .state(.disconnected) = signal { media.setConnected(false) }
            guard media.isAnnounced else { return }
            if media.mayHaveVideo, media.videoCodec != codec { throw ReconnectReason.recoded }
            let modes = media.modes
            // Before the connection is established, the other users would mistake the announcement
            // for a connection.
            guard isConnected, modes != announced.modes else { continue }
            announced.modes = modes
            // Waits for the answer, because Janus may otherwise handle a later request first.
            _ = try? await handle.request([
                "request": "configure", "descriptions": announced.descriptions,
            ])
        }
        throw ReconnectReason.over
    }
}
