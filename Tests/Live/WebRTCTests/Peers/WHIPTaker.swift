import MediaBridge
import MediaBridgeWebRTC
import Synchronization
import TestSupport

/// A WHIP server that accepts video in some codecs, and Opus.
final class WHIPTaker: Sendable {
    /// How the server rejects a codec.
    enum Refusal: CaseIterable { case status, mediaLine }

    let came = PeerCollector()
    private let codecs: [VideoCodec]
    private let peers = Mutex<[PeerConnection]>([])

    private let configuration: PeerConnection.Configuration

    init(_ codecs: [VideoCodec], configuration: PeerConnection.Configuration = .loopback) {
        (self.codecs, self.configuration) = (codecs, configuration)
    }

    /// Answers a request of a ``ScriptedServer``.
    func answer(
        _ request: ScriptedServer.Request, refusal: Refusal = .mediaLine
    ) -> ScriptedServer.Reply {
        guard request.method == "POST" else { return .response("200 OK") }
        if refusal == .status, !request.body.contains("VP8/90000") {
            return .response("406 Not Acceptable")
        }
        let peer = PeerConnection(
            .receiver, .init(video: codecs, audio: [.opus]), configuration: configuration,
            observer: came)
        peers.withLock { $0.append(peer) }
        let answer = Mutex<String?>(nil)
        blockingWait {
            let text = try? await peer.answer(request.body)
            answer.withLock { $0 = text }
        }
        guard let text = answer.withLock({ $0 }) else { return .response("406 Not Acceptable") }
        return .response(
            "201 Created", ["Content-Type: application/sdp", "Location: /whip/1"], body: text)
    }

    func close() async { for peer in peers.withLock({ $0 }) { await peer.close() } }
}
