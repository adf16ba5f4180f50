package import Foundation
internal import HTTPTypes
internal import Synchronization

/// A session with a WHIP or WHEP server, created by the answer to an offer.
///
/// Thread: any. Its release sends nothing to the server: call ``end()``.
package final class SignallingSession: Sendable {
    /// The server's session description.
    package let answer: String
    /// The URL of the session. If the server gave none, it is `nil`, and the server accepts no
    /// candidates and no end of the session.
    package let resource: URL?
    /// The STUN and TURN servers that the server names (`Link: …; rel="ice-server"`), in the form
    /// of ``PeerConnection/Configuration/servers``.
    package let servers: [String]

    private struct State {
        var entityTag: String?
        /// Whether the server accepts candidates.
        var takesCandidates = true
        var isOver = false
    }
    private let state: Mutex<State>
    private let client: SignallingClient
    private let credentials: TrickleFragment.Credentials?

    init(
        _ client: SignallingClient, answer: String, resource: URL?, entityTag: String?,
        servers: [String], credentials: TrickleFragment.Credentials?
    ) {
        self.client = client
        self.answer = answer
        self.resource = resource
        self.servers = servers
        self.credentials = credentials
        state = Mutex(State(entityTag: entityTag))
    }

    /// Sends candidates that were found after the offer.
    ///
    /// - Parameters:
    ///   - candidates: The candidates; empty to report only that no more follow.
    ///   - isLast: Whether no more candidates follow. Default false.
    /// - Returns: False if the server accepts no candidates, now or later (405 and 501): it uses
    ///   only those in the offer.
    /// - Throws: ``PeerError`` as ``SignallingClient/post(offer:)``.
    @discardableResult
    package func send(
        _ candidates: [PeerConnection.Candidate], isLast: Bool = false
    ) async throws(PeerError) -> Bool {
        let (tag, isOpen) = state.withLock { ($0.entityTag, $0.takesCandidates && !$0.isOver) }
        guard isOpen, let resource else { return false }
        var fields = HTTPFields()
        fields[.contentType] = "application/trickle-ice-sdpfrag"
        fields[.ifMatch] = tag
        let fragment = TrickleFragment(
            credentials: credentials, candidates: candidates, isLast: isLast)
        let reply = try await client.request(
            .patch, resource, fields, body: Array(fragment.text.utf8), within: client.sessionTimeout
        )
        switch reply.response.status.code {
        case 200..<300:
            if let tag = reply.response.headerFields[.eTag] {
                state.withLock { $0.entityTag = tag }
            }
            return true
        case 405, 501:
            state.withLock { $0.takesCandidates = false }
            return false
        default: throw .refusal(reply, by: resource, sentToken: true)
        }
    }

    /// Ends the session on the server. A second call does nothing. A server that does not answer,
    /// or has already ended the session, is not an error.
    package func end() async {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst, let resource else { return }
        // A separate task: the end of the caller's task is the usual reason to end the session.
        let client = self.client
        await Task.detached {
            // Sent once more if the connection fails, which is allowed for a DELETE (RFC 9110,
            // section 9.2.2): otherwise the server keeps the session until its media has been
            // silent for a long time.
            for _ in 0..<2 {
                do throws(PeerError) {
                    _ = try await client.request(
                        .delete, resource, HTTPFields(), within: client.sessionTimeout)
                    return
                } catch {
                    guard error.code == .unreachable else { return }
                }
            }
        }.value
    }
}
