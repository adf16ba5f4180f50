internal import MediaBridge
internal import MediaCore

/// A connection that a server of WHIP or WHEP has answered, and its session there.
final class AnsweredConnection: Sendable {
    let peer: PeerConnection
    private let session: SignallingSession

    private init(_ peer: PeerConnection, _ session: SignallingSession) {
        self.peer = peer
        self.session = session
    }

    /// Makes an offer, posts it, and takes the answer.
    ///
    /// - Throws: ``PeerError``; nothing is left of the session then.
    static func open(
        _ role: PeerConnection.Role, _ media: PeerConnection.Media,
        _ configuration: PeerConnection.Configuration, by client: SignallingClient,
        observer: any PeerConnectionObserver
    ) async throws(PeerError) -> AnsweredConnection {
        let peer = PeerConnection(role, media, configuration: configuration, observer: observer)
        let session: SignallingSession
        do throws(PeerError) {
            session = try await client.post(offer: peer.offer(isComplete: true))
        } catch {
            await peer.close()
            throw error
        }
        do throws(PeerError) {
            try await peer.accept(answer: session.answer)
        } catch {
            await session.end()
            await peer.close()
            throw error
        }
        return AnsweredConnection(peer, session)
    }

    /// Ends the session at the server and closes the connection.
    func close() async {
        async let isEnded: Void = session.end()
        await peer.close()
        await isEnded
    }
}

extension PipelineError {
    /// Creates the error of a pipeline for one of a connection.
    init(_ error: PeerError) {
        let code: Code =
            switch error.code {
            case .missingElement: .missingElement
            case .deadlineExceeded: .deadlineExceeded
            case .unauthorized, .refused: .refused
            case .badAddress, .badServer: .badValue
            default: .resourceFailed
            }
        self.init(code, message: error.message, advice: error.advice)
    }
}
