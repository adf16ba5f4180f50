internal import GStreamerKit

/// The reason why a peer connection failed.
public struct PeerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. New kinds may be added: switch over them with a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the kind, which is also its identity.
        public let rawValue: String
        /// Creates a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The peer's session description is not SDP, or not one of WebRTC.
        public static let badDescription = Code(rawValue: "badDescription")
        /// The peer takes or gives none of the codecs, or wants the other direction.
        public static let nothingInCommon = Code(rawValue: "nothingInCommon")
        /// An element, such as webrtcbin or nicesrc, is not installed.
        public static let missingElement = Code(rawValue: "missingElement")
        /// A STUN or TURN server is not written as it has to be, or none gives the relay without which there
        /// is no connection.
        public static let badServer = Code(rawValue: "badServer")
        /// A call that is not valid in the present state: a second offer.
        public static let invalidState = Code(rawValue: "invalidState")
        /// The peer did not answer in time.
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        /// The peer cannot be reached, or is gone.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The connection was closed by this side.
        public static let closed = Code(rawValue: "closed")
        /// GStreamer reported an error.
        public static let failed = Code(rawValue: "failed")
        /// The URL is not one of an endpoint, or the token cannot be sent.
        public static let badAddress = Code(rawValue: "badAddress")
        /// The server demands a token, or does not take this one.
        public static let unauthorized = Code(rawValue: "unauthorized")
        /// The server has no room now, or nothing to send: a later attempt may succeed.
        public static let busy = Code(rawValue: "busy")
        /// The server refused the request, or answered with something else than asked for.
        public static let refused = Code(rawValue: "refused")
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence for people.
    public let message: String
    /// What to do about it; `nil` if there is no suggestion.
    public let advice: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One sentence for people.
    ///   - advice: What to do about it; default none.
    public init(_ code: Code, message: String, advice: String? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
    }

    /// The message, followed by the advice if there is any.
    public var description: String { message + (advice.map { ". Try: \($0)" } ?? "") }
}

// MARK: - Errors of pipelines

extension PeerError {
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
