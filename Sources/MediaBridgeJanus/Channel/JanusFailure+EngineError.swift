internal import BridgeEngine
internal import FoundationEssentials

extension JanusFailure {
    /// Returns the error for a user that joins or uses a channel.
    func error(for request: ChannelRequest, tokens: TokenPair, now: Date = Date()) -> EngineError {
        let (channel, user) = (request.channel, request.userID)
        let refusal = TokenRefusal(tokens: tokens, channel: channel, now: now)
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
        case .refused(Self.coreUnauthorized): return refusal.serverError(message)
        case .refused(Self.unauthorized) where message.contains("pin"):
            return EngineError(
                .tokenForged, message: "wrong PIN for channel \(channel)",
                advice: "compare the PIN with that of the room")
        case .refused(Self.unauthorized) where message.contains("kicked"):
            return EngineError(.kicked, message: "\(user) was removed from channel \(channel)")
        case .refused(Self.unauthorized): return refusal.roomError(message)
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
}
