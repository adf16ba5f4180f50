/// Why the engine could not do what it was asked.
///
/// The end of a source, and frames that are dropped, are not errors: they are events and counts.
public struct EngineError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A source's `shouldInitialize` said false, or threw.
        public static let sourceNotInitialized = Code(rawValue: "sourceNotInitialized")
        /// A source's `shouldStart` threw. Agora's 1003.
        public static let sourceNotStarted = Code(rawValue: "sourceNotStarted")
        /// A source that ran failed, or could not be stopped.
        public static let sourceFailed = Code(rawValue: "sourceFailed")
        /// A renderer's `shouldInitialize` said false, or threw.
        public static let rendererNotInitialized = Code(rawValue: "rendererNotInitialized")
        /// A renderer's `shouldStart` threw. Agora's 1004.
        public static let rendererNotStarted = Code(rawValue: "rendererNotStarted")
        /// A renderer that ran failed, or could not be stopped.
        public static let rendererFailed = Code(rawValue: "rendererFailed")
        /// A processor threw, or took too long.
        public static let processorFailed = Code(rawValue: "processorFailed")
        /// A call of the program's own code did not return in time.
        public static let stuck = Code(rawValue: "stuck")
        /// The engine is not in the state for it.
        public static let invalidState = Code(rawValue: "invalidState")
        /// Agora's 2.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// Already in a channel: leave it first.
        public static let alreadyInChannel = Code(rawValue: "alreadyInChannel")
        /// Agora's 113.
        public static let notInChannel = Code(rawValue: "notInChannel")
        /// Somebody of that name is in the channel.
        public static let userIDTaken = Code(rawValue: "userIDTaken")
        /// The channel demands a token.
        public static let tokenMissing = Code(rawValue: "tokenMissing")
        /// Not a token, or not signed with the channel's secret.
        public static let tokenForged = Code(rawValue: "tokenForged")
        public static let tokenExpired = Code(rawValue: "tokenExpired")
        /// A token for another channel, or another user.
        public static let tokenNotForThis = Code(rawValue: "tokenNotForThis")
        /// The channel is gone.
        public static let disconnected = Code(rawValue: "disconnected")
        /// No frame came in time.
        public static let noFrame = Code(rawValue: "noFrame")
        /// The task that asked for it was cancelled; nothing has changed.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The engine was shut down.
        public static let shutDown = Code(rawValue: "shutDown")
    }

    public let code: Code
    /// The call of the program's own code that failed: `shouldInitialize`, `shouldStart` …; `nil` where
    /// none was involved.
    public let call: String?
    /// One sentence for people: what, and which object.
    public let message: String
    /// What to do; `nil` where nobody knows better than the reader.
    public let advice: String?
    /// What the call threw.
    public let underlying: (any Error)?

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

    public var description: String {
        let reason = underlying.map { ": \($0)" } ?? ""
        return message + reason + (advice.map { ". Try: \($0)" } ?? "")
    }
}
