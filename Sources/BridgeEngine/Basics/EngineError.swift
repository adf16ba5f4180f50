/// The reason why an engine operation failed.
///
/// The end of a source and dropped frames are not errors: they are reported as events and counts.
public struct EngineError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code, for example `sourceNotStarted`.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A source's `shouldInitialize` returned false or threw.
        public static let sourceNotInitialized = Code(rawValue: "sourceNotInitialized")
        /// A source's `shouldStart` threw. Agora's error 1003.
        public static let sourceNotStarted = Code(rawValue: "sourceNotStarted")
        /// A running source failed, or could not be stopped.
        public static let sourceFailed = Code(rawValue: "sourceFailed")
        /// A renderer's `shouldInitialize` returned false or threw.
        public static let rendererNotInitialized = Code(rawValue: "rendererNotInitialized")
        /// A renderer's `shouldStart` threw. Agora's error 1004.
        public static let rendererNotStarted = Code(rawValue: "rendererNotStarted")
        /// A running renderer failed, or could not be stopped.
        public static let rendererFailed = Code(rawValue: "rendererFailed")
        /// A processor threw, or took too long.
        public static let processorFailed = Code(rawValue: "processorFailed")
        /// A call of the program's own code did not return before its deadline.
        public static let stuck = Code(rawValue: "stuck")
        /// The engine's current state does not allow the operation.
        public static let invalidState = Code(rawValue: "invalidState")
        /// An argument is not valid. Agora's error 2.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// The engine is already in a channel: leave that channel first.
        public static let alreadyInChannel = Code(rawValue: "alreadyInChannel")
        /// The engine is not in a channel. Agora's error 113.
        public static let notInChannel = Code(rawValue: "notInChannel")
        /// Another user with this id is in the channel.
        public static let userIDTaken = Code(rawValue: "userIDTaken")
        /// A track cannot be sent to the channel.
        public static let sendingFailed = Code(rawValue: "sendingFailed")
        /// The channel requires a token.
        public static let tokenMissing = Code(rawValue: "tokenMissing")
        /// The token is malformed, or not signed with the channel's secret.
        public static let tokenForged = Code(rawValue: "tokenForged")
        /// The token has expired.
        public static let tokenExpired = Code(rawValue: "tokenExpired")
        /// The token is for another channel or another user.
        public static let tokenNotForThis = Code(rawValue: "tokenNotForThis")
        /// The channel has as many users as it admits.
        public static let channelFull = Code(rawValue: "channelFull")
        /// The network, or the server of the channel, cannot be reached.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The user was removed from the channel.
        public static let kicked = Code(rawValue: "kicked")
        /// The channel is gone.
        public static let disconnected = Code(rawValue: "disconnected")
        /// No frame arrived before the deadline.
        public static let noFrame = Code(rawValue: "noFrame")
        /// The task of the operation was cancelled; nothing has changed.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The engine was shut down.
        public static let shutDown = Code(rawValue: "shutDown")
    }

    /// The kind of failure.
    public let code: Code
    /// The call of the program's own code that failed (`shouldInitialize`, `shouldStart` …); `nil`
    /// if no such call was involved.
    public let call: String?
    /// One human-readable sentence: what failed, and which object.
    public let message: String
    /// What to do about the failure; `nil` if the engine has no suggestion.
    public let advice: String?
    /// The error that the failed call threw; `nil` if it threw none.
    public let underlying: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - call: The call of the program's own code that failed; `nil` if none was involved.
    ///   - message: One human-readable sentence: what failed, and which object.
    ///   - advice: What to do about the failure; `nil` for no suggestion.
    ///   - underlying: The error that the failed call threw; `nil` for none.
    public init(
        _ code: Code, call: String? = nil, message: String, advice: String? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.call = call
        self.message = message
        self.advice = advice
        self.underlying = underlying
    }

    /// The message, followed by the underlying error and the advice if there are any.
    public var description: String {
        let reason = underlying.map { ": \($0)" } ?? ""
        return message + reason + (advice.map { ". Try: \($0)" } ?? "")
    }
}
