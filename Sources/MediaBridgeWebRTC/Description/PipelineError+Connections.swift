public import MediaBridge

extension PipelineError.Code {
    /// The peer's session description is not SDP, or not one of WebRTC.
    public static let badDescription = Self(rawValue: "badDescription")
    /// The peer supports none of the codecs, or not the direction of the media.
    public static let nothingInCommon = Self(rawValue: "nothingInCommon")
    /// The URL of a STUN or TURN server is invalid, or no TURN server allocated a required relay.
    public static let badServer = Self(rawValue: "badServer")
    /// The peer cannot be reached, or no longer answers.
    public static let unreachable = Self(rawValue: "unreachable")
    /// The connection was closed by this side.
    public static let closed = Self(rawValue: "closed")
    /// The connection cannot carry the media.
    public static let failed = Self(rawValue: "failed")
    /// The server requires a token, or rejects this one.
    public static let unauthorized = Self(rawValue: "unauthorized")
    /// The server is full, or has nothing to send. A later attempt may succeed.
    public static let busy = Self(rawValue: "busy")
}

extension PipelineError {
    /// The error as captures and outputs report it, without the codes of connections.
    var asOfBridge: PipelineError {
        var error = self
        switch code {
        case .missingElement, .deadlineExceeded, .refused, .badValue: break
        case .unauthorized: error.code = .refused
        case .badServer: error.code = .badValue
        default: error.code = .resourceFailed
        }
        return error
    }
}
