internal import BridgeEngine
internal import FoundationEssentials

/// Why a request to a Janus server failed, or why a connection to it ended.
struct JanusFailure: Error, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        /// The server cannot be reached, or is not a Janus server.
        case unreachable
        /// The certificate of the server is not trusted, or the CA file cannot be read.
        case untrusted
        /// The connection has ended.
        case closed
        /// The server did not answer in time, or is silent.
        case deadlineExceeded
        /// The server answered with an error; its number.
        case refused(Int)
        /// The server has not created a room; the number of its error, if it reported one.
        case notCreated(Int?)
        /// The answer violates the protocol.
        case badAnswer
        /// The task was cancelled.
        case cancelled
    }
    let kind: Kind
    /// One sentence for the user.
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The number of the server's error; `nil` if it did not refuse.
    var code: Int? {
        if case .refused(let code) = kind { return code }
        return nil
    }

    var description: String { message }

    // Numbers of the VideoRoom plugin's errors.
    static let noSuchRoom = 426
    static let roomExists = 427
    static let noSuchFeed = 428
    static let missingElement = 429
    static let invalidElement = 430
    static let publishersFull = 432
    static let unauthorized = 433
    static let userExists = 436
    // Numbers of the core's errors.
    /// The token of a request is not valid.
    static let coreUnauthorized = 403
    /// The server could not execute the request, for example because its machine has no network.
    static let coreUnable = 490
}

// MARK: - Errors of a channel

extension JanusFailure {
    /// Returns the error for a user that joins or uses a channel.
    func error(for request: ChannelRequest, tokens: TokenPair) -> EngineError {
        let (channel, user) = (request.channel, request.userID)
        switch kind {
        case .unreachable, .deadlineExceeded, .closed:
            return EngineError(
                .unreachable, message: message,
                advice: kind == .closed ? nil : "check the address, and that the server is running")
        case .untrusted:
            return EngineError(
                .unreachable, message: message,
                advice: "set caFile (--ca-file) to the certificate of the server's authority")
        case .badAnswer:
            return EngineError(
                .unreachable, message: message, advice: "check that the server is a Janus server")
        case .cancelled:
            return EngineError(
                .disconnected, message: "joining channel \(channel) was cancelled",
                underlying: CancellationError())
        case .notCreated(let code):
            let isKey = code == Self.missingElement || code == Self.unauthorized
            return EngineError(
                .invalidArgument, message: "channel \(channel) cannot be created: \(message)",
                advice: isKey
                    ? "set roomCreation.adminKey to admin_key of janus.plugin.videoroom.jcfg" : nil)
        case .refused(Self.coreUnauthorized):
            return tokenError(tokens.server, for: "the Janus server") { $0.isForServer }
        case .refused(Self.unauthorized) where message.contains("pin"):
            return EngineError(
                .tokenForged, message: "wrong PIN for channel \(channel)",
                advice: "compare the PIN with that of the room")
        case .refused(Self.unauthorized) where message.contains("kicked"):
            return EngineError(.kicked, message: "\(user) was removed from channel \(channel)")
        case .refused(Self.unauthorized):
            return tokenError(tokens.room, for: "channel \(channel)") { $0.isFor(room: channel) }
        case .refused(Self.missingElement) where message.contains("pin"):
            return EngineError(
                .tokenMissing, message: "channel \(channel) requires a PIN",
                advice: "set pin in the configuration of the transport (--pin)")
        case .refused(Self.invalidElement) where message.contains("integer"):
            return EngineError(
                .invalidArgument,
                message: "the Janus server accepts only numbers as room and user IDs: \(message)",
                advice: "set string_ids = true in janus.plugin.videoroom.jcfg")
        case .refused(Self.noSuchRoom):
            return EngineError(
                .invalidArgument, message: "channel \(channel) not found on the Janus server",
                advice:
                    "add the room to janus.plugin.videoroom.jcfg, or set roomCreation (--admin-key)"
            )
        case .refused(Self.userExists):
            return EngineError(
                .userIDTaken, message: "user ID \(user) is in use in channel \(channel)")
        case .refused(Self.publishersFull):
            return EngineError(
                .channelFull, message: "channel \(channel) has its maximum number of senders",
                advice: "raise \"publishers\" of the room")
        case .refused(let code):
            return EngineError(
                .disconnected,
                message: "the Janus server refused channel \(channel): \(message) (\(code))")
        }
    }

    /// Returns the error for a refused token, as far as the token's text shows the reason.
    private func tokenError(
        _ text: String?, for place: String, isForThis: (SignedToken) -> Bool
    ) -> EngineError {
        guard let text else {
            return EngineError(
                .tokenMissing, message: "\(place) requires a token: \(message)",
                advice:
                    "pass a token made by JanusTokens (gst-bridge token) with the server's secret")
        }
        guard let token = SignedToken(text) else {
            return EngineError(
                .tokenForged, message: "\(place) refused the token: \(message)",
                advice:
                    "a token from JanusTokens (gst-bridge token): two parts, separated by a space")
        }
        guard isForThis(token) else {
            return EngineError(
                .tokenNotForThis, message: "the token is not for \(place): \(message)",
                advice: "make a token for this channel")
        }
        guard !token.hasExpired(at: Date()) else {
            return EngineError(
                .tokenExpired, message: "the token for \(place) has expired",
                advice: "make a new token; if it is new, compare the clocks of both machines")
        }
        return EngineError(
            .tokenForged,
            message: "the token for \(place) is not signed with the server's secret: \(message)",
            advice: "compare the secret with token_auth_secret of janus.jcfg")
    }
}
