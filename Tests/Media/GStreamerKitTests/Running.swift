import GStreamerKit

extension Pipeline {
    /// Plays until EOS or the first error, and returns to NULL.
    func playToTheEnd() async throws {
        // Subscribe before playing, so that no message is missed.
        let messages = self.messages
        do {
            try await setState(.playing)
            for await message in messages {
                if case .endOfStream = message { break }
                if case .error(let error) = message { throw error }
            }
        } catch {
            _ = try? await setState(.null)
            throw error
        }
        try await setState(.null)
    }
}

extension AsyncStream<BusMessage> {
    /// All messages up to and including the first that satisfies `isLast`.
    func collect(until isLast: (BusMessage) -> Bool) async -> [BusMessage] {
        var all: [BusMessage] = []
        for await message in self {
            all.append(message)
            if isLast(message) { break }
        }
        return all
    }
}

extension BusMessage {
    var isEnd: Bool { if case .endOfStream = self { true } else { false } }
    var error: PipelineError? { if case .error(let error) = self { error } else { nil } }
    /// The name of its case, for comparison.
    var kind: String { String(String(describing: self).prefix { $0 != "(" }) }
}

extension AppSink {
    /// Releases handlers that retain the sink, and with it the whole pipeline.
    func forgetHandlers() { setHandlers(onSample: { true }, onEnd: {}) }
}
