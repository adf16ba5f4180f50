internal import GStreamerKit

/// The reason why a peer connection failed.
public struct PeerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure. New kinds may be added: switch over them with a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, which is also its identity.
        package let rawValue: String
        /// Creates a kind from its name.
        package init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the kind.
        public var description: String { rawValue }

        /// The peer's session description is not SDP, or not one of WebRTC.
        public static let badDescription = Code(rawValue: "badDescription")
        /// The peer supports none of the codecs, or not the direction of the media.
        public static let nothingInCommon = Code(rawValue: "nothingInCommon")
        /// An element, such as webrtcbin or nicesrc, is not installed.
        public static let missingElement = Code(rawValue: "missingElement")
        /// The URL of a STUN or TURN server is invalid, or no TURN server allocated a required relay.
        public static let badServer = Code(rawValue: "badServer")
        /// The call is not valid in the current state, e.g. a second offer.
        public static let invalidState = Code(rawValue: "invalidState")
        /// The peer did not answer in time.
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        /// The peer cannot be reached, or no longer answers.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The connection was closed by this side.
        public static let closed = Code(rawValue: "closed")
        /// GStreamer reported an error.
        public static let failed = Code(rawValue: "failed")
        /// The URL is not one of an endpoint, or the token cannot be sent.
        public static let badAddress = Code(rawValue: "badAddress")
        /// The server requires a token, or rejects this one.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The server is full, or has nothing to send. A later attempt may succeed.
        public static let busy = Code(rawValue: "busy")
        /// The server refused the request, or gave an unexpected answer.
        public static let refused = Code(rawValue: "refused")
    }

    /// The kind of failure.
    public let code: Code
    /// The reason, in one sentence.
    public let message: String
    /// A suggested remedy; `nil` without one.
    public let advice: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: The reason, in one sentence.
    ///   - advice: A suggested remedy. Default none.
    package init(_ code: Code, message: String, advice: String? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
    }

    /// The message, followed by the advice if there is any.
    public var description: String { message + (advice.map { ". Try: \($0)" } ?? "") }
}

// MARK: - Errors of pipelines

extension PeerError {
    /// Creates the error of a connection for one of its pipeline.
    init(_ error: PipelineError) {
        let code: Code =
            switch error.code {
            case .missingElement: .missingElement
            case .deadlineExceeded: .deadlineExceeded
            default: .failed
            }
        var reason = error
        reason.advice = nil
        self.init(code, message: reason.description, advice: error.advice)
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
