internal import NIOCore
internal import NIOWebSocket

/// The end of a channel's pipeline: passes on whole messages, answers pings, sends some itself, and
/// closes the channel where the server is silent or breaks the protocol.
///
/// Thread: the channel's event loop.
final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let limits: WebSocketLimits
    private let onMessage: @Sendable ([UInt8]) -> Void
    private let onEnd: @Sendable (JanusFailure) -> Void
    private var end: JanusFailure?
    /// Questions whether the server is there since anything came from it. Counted, and not measured, so that
    /// a thread that got no turn for a while does not take its own silence for the server's.
    private var unanswered = 0
    private var pings: RepeatedTask?

    /// - Parameters:
    ///   - onMessage: Called with the bytes of each message.
    ///   - onEnd: Called once, when the channel is closed.
    init(
        _ limits: WebSocketLimits, onMessage: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (JanusFailure) -> Void
    ) {
        self.limits = limits
        self.onMessage = onMessage
        self.onEnd = onEnd
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        let handler = NIOLoopBound(self, eventLoop: context.value.eventLoop)
        let interval = TimeAmount(limits.pingInterval)
        pings = context.value.eventLoop.scheduleRepeatedTask(
            initialDelay: interval, delay: interval
        ) { _ in
            handler.value.ping(context.value)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        pings?.cancel()
        pings = nil
        tellEnd(JanusFailure(.closed, "the connection to the Janus server was closed"))
    }

    func channelInactive(context: ChannelHandlerContext) {
        pings?.cancel()
        pings = nil
        tellEnd(JanusFailure(.closed, "the Janus server closed the connection"))
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unanswered = 0
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            guard end == nil else { return }
            onMessage([UInt8](frame.unmaskedData.readableBytesView))
        case .ping:
            guard context.channel.isWritable else { return }
            send(.pong, frame.unmaskedData, context)
        case .connectionClose:
            send(.connectionClose, ByteBuffer(), context)
            close(context, JanusFailure(.closed, "the Janus server closed the connection"))
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(
            context,
            JanusFailure(.closed, "the Janus server violated the WebSocket protocol: \(error)"))
    }

    private func ping(_ context: ChannelHandlerContext) {
        guard unanswered < limits.unansweredPings else {
            return close(
                context,
                JanusFailure(
                    .deadlineExceeded,
                    "the Janus server has sent nothing for \(limits.silence)"))
        }
        unanswered += 1
        if context.channel.isWritable { send(.ping, ByteBuffer(), context) }
    }

    private func send(
        _ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext
    ) {
        let frame = WebSocketFrame(
            fin: true, opcode: opcode, maskKey: WebSocketMaskingKey.random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func close(_ context: ChannelHandlerContext, _ failure: JanusFailure) {
        if end == nil { end = failure }
        context.close(promise: nil)
    }

    private func tellEnd(_ failure: JanusFailure) {
        let isFirst = !isTold
        isTold = true
        if isFirst { onEnd(end ?? failure) }
    }
    private var isTold = false
}

/// Closes a channel that reports an error before it is a WebSocket's.
final class ErrorCloser: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
