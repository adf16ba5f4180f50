internal import NIOCore

/// Limits what a WebSocket client can make Janus keep: Janus collects a message until its end, whatever its length.
///
/// Janus authorises a client when it creates a session for it. Until then, time and bytes are limited as well.
///
/// Thread: the event loop of the client's channel.
final class WebSocketGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The maximum of one message, and of everything that a client sends before it is authorised. The longest
    /// messages are session descriptions, of about 10 KiB.
    static let maximumSize = 64 * 1024
    /// The timeout for a session.
    private static let timeout = TimeAmount.seconds(10)

    private var frames = WebSocketFrames(maximumSize: WebSocketGate.maximumSize)
    private var isAuthorized = false
    private var received = 0
    private var deadline: Scheduled<Void>?

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.timeout) {
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data).readableBytesView
        if !isAuthorized { received += bytes.count }
        guard frames.take(bytes), received <= Self.maximumSize else {
            return context.close(promise: nil)
        }
        context.fireChannelRead(data)
    }

    /// Looks for the creation of a session in what Janus sends.
    func note(_ answer: ByteBuffer) {
        guard !isAuthorized,
            Self.successes.contains(where: {
                answer.readableBytesView.firstRange(of: $0) != nil
            })
        else { return }
        (isAuthorized, received) = (true, 0)
        deadline?.cancel()
    }

    /// A client cannot make Janus repeat this text: the quotes of its transaction are escaped.
    private static let successes = ["\"janus\": \"success\"", "\"janus\":\"success\""].map {
        Array($0.utf8)
    }
}

/// The frames of a WebSocket client, of which only the heads are read.
///
/// Source: RFC 6455, section 5.2.
struct WebSocketFrames {
    private let maximumSize: Int
    private var head: [UInt8] = []
    /// The bytes of the current frame that have not arrived yet.
    private var remaining = 0
    /// The size of the current message so far, with the heads of its frames.
    private var size = 0

    init(maximumSize: Int) { self.maximumSize = maximumSize }

    /// - Returns: False if a message is too long, or if the bytes are not frames of a client.
    mutating func take(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = bytes[...]
        while let byte = rest.first {
            guard remaining == 0 else {
                let count = min(remaining, rest.count)
                remaining -= count
                rest = rest.dropFirst(count)
                continue
            }
            rest = rest.dropFirst()
            head.append(byte)
            guard head.count >= 2 else { continue }
            let shortLength = Int(head[1] & 0x7f)
            let lengthBytes = shortLength == 127 ? 8 : shortLength == 126 ? 2 : 0
            // The mask follows the length.
            guard head.count == 2 + lengthBytes + 4 else { continue }
            let (kind, isLast, isMasked) = (
                head[0] & 0x0f, head[0] & 0x80 != 0, head[1] & 0x80 != 0
            )
            let length =
                lengthBytes == 0
                ? UInt64(shortLength)
                : head[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | UInt64($1) }
            guard isMasked, length <= maximumSize else { return false }
            if kind >= 8 {
                guard isLast, length <= 125 else { return false }
            } else {
                if kind != 0 { size = 0 }
                size += head.count + Int(length)
                guard size <= maximumSize else { return false }
            }
            (remaining, head) = (Int(length), [])
        }
        return true
    }
}
