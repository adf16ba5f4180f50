/// The reason why an engine operation failed.
///
/// The end of a source and dropped frames are not errors: they are reported as events and counts.
public struct EngineError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable {
        /// A source's `shouldInitialize` returned false or threw.
        case sourceNotInitialized
        /// A source's `shouldStart` threw. Agora's error 1003.
        case sourceNotStarted
        /// A running source failed, or could not be stopped.
        case sourceFailed
        /// A sink's `shouldInitialize` returned false or threw.
        case sinkNotInitialized
        /// A sink's `shouldStart` threw. Agora's error 1004.
        case sinkNotStarted
        /// A running sink failed, or could not be stopped.
        case sinkFailed
        /// A processor threw, or took too long.
        case processorFailed
        /// A call of the program's own code did not return before its deadline.
        case stuck
        /// The engine's current state does not allow the operation.
        case invalidState
        /// An argument is not valid. Agora's error 2.
        case invalidArgument
        /// The engine is already in a channel: leave that channel first.
        case alreadyInChannel
        /// The engine is not in a channel. Agora's error 113.
        case notInChannel
        /// Another user with this id is in the channel.
        case userIDTaken
        /// A track cannot be sent to the channel.
        case sendingFailed
        /// The channel requires a token.
        case tokenMissing
        /// The token is malformed, or not signed with the channel's secret.
        case tokenForged
        /// The token has expired.
        case tokenExpired
        /// The token is for another channel or another user.
        case tokenNotForThis
        /// The channel has as many users as it admits.
        case channelFull
        /// The network, or the server of the channel, cannot be reached.
        case unreachable
        /// The user was removed from the channel.
        case kicked
        /// The channel is gone.
        case disconnected
        /// No frame arrived before the deadline.
        case noFrame
        /// The task of the operation was cancelled; nothing has changed.
        case cancelled
        /// The engine was shut down.
        case shutDown
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

extension EngineError {
    /// The error of an operation after the shutdown.
    static let afterShutDown = EngineError(.shutDown, message: "the engine was shut down")

    /// The error of an operation whose task was cancelled.
    static func cancelled(_ what: String) -> EngineError {
        EngineError(
            .cancelled, message: "\(what) was cancelled", underlying: CancellationError())
    }
}
