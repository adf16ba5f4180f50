internal import MediaCore

extension MediaEngine {
    /// Creates a source that the program did not set, and its host.
    ///
    /// Runs on another queue, because devices may respond slowly and the engine must stay available.
    ///
    /// - Parameters:
    ///   - what: What the source is, for messages: `microphone`.
    ///   - call: The backend's method, for the error.
    ///   - make: Creates the source.
    func makeDefault<Media: HostedSource>(
        _ what: String, call: String, advice: String, number: Int,
        to receiver: any SourceReceiver<Media>,
        _ make: @escaping @Sendable (any MediaBackend) throws -> sending Media.Source
    ) async throws(EngineError) -> SourceHost<Media> {
        let (backend, trace, limit) = (self.backend, transitions, configuration.callTimeout)
        let made = await controlQueue.outcome(within: limit, on: clock.timeline) {
            Result<SourceHost<Media>, any Error> {
                SourceHost(try make(backend), number: number, to: receiver, trace: trace)
            }
        }
        guard let made else {
            throw EngineError(
                .stuck, call: call, message: "\(what) not found within \(limit)",
                advice: advice)
        }
        do { return try made.get() } catch {
            throw EngineError(
                .sourceNotInitialized, message: "\(what) not found", advice: advice,
                underlying: error)
        }
    }
}
