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
