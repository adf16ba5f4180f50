internal import NIOCore

/// What a connection waits for, and how much it takes.
struct WebSocketLimits: Sendable {
    /// How long connecting may take, from the first packet to the server's consent.
    var connecting = Duration.seconds(5)
    /// How long nothing may come from the server; noticed an interval of pings later at most.
    var silence = Duration.milliseconds(2200)
    /// How often the server is asked in that time whether it is there.
    var unansweredPings = 4
    /// The most bytes of a message from the server.
    var messageSize = 1 << 20
    /// The most bytes that wait to be sent.
    var waitingBytes = 4 << 20

    /// The time between two questions.
    var pingInterval: Duration { silence / unansweredPings }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(
            min(max(0, seconds), 1_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
