/// Why a request to a Janus server has no result, or why a connection to it is over.
struct JanusFailure: Error, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        /// The server cannot be reached, or is no Janus server.
        case unreachable
        /// The certificate of the server is not trusted, or the CA file cannot be read.
        case untrusted
        /// The connection is over.
        case closed
        /// The server did not answer in time, or is silent.
        case deadlineExceeded
        /// The server answered with an error; its number.
        case refused(Int)
        /// The server has not created a room; the number of its error, if it is one.
        case notCreated(Int?)
        /// The answer is not what the protocol says.
        case badAnswer
        /// The task was cancelled.
        case cancelled
    }
    let kind: Kind
    /// One sentence for people.
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
}

extension JanusFailure {
    // Numbers of the VideoRoom plugin's errors.
    static let noSuchRoom = 426
    static let roomExists = 427
    static let noSuchFeed = 428
    static let missingElement = 429
    static let invalidElement = 430
    static let publishersFull = 432
    static let unauthorized = 433
    static let userExists = 436
    /// The core's: the token of a request is not valid.
    static let coreUnauthorized = 403
    /// The core's: it could not do it, as to make a connection while its machine has no network.
    static let coreUnable = 490
}
