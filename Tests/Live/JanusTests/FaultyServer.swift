import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization

/// A WebSocket server with scripted responses, for protocol violations that Janus does not commit.
final class FaultyServer: Sendable {
    private let channel: any Channel
    var port: Int { channel.localAddress?.port ?? 0 }
    var address: String { "ws://127.0.0.1:\(port)/janus" }

    /// - Parameters:
    ///   - isHonest: Whether the server accepts the subprotocol.
    ///   - answer: Called with each text message; returns the response.
    init(
        isHonest: Bool = true, onOpen: @escaping @Sendable () -> [WebSocketFrame] = { [] },
        answer: @escaping @Sendable (String) -> [WebSocketFrame]
    ) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let upgrader = NIOWebSocketServerUpgrader(maxFrameSize: 1 << 24) { channel, _ in
                    var headers = HTTPHeaders()
                    if isHonest {
                        headers.add(name: "Sec-WebSocket-Protocol", value: "janus-protocol")
                    }
                    return channel.eventLoop.makeSucceededFuture(headers)
                } upgradePipelineHandler: { channel, _ in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            Answerer(onOpen: onOpen, answer: answer))
                    }
                }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() async { try? await channel.close().get() }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame
        let onOpen: @Sendable () -> [WebSocketFrame]
        let answer: @Sendable (String) -> [WebSocketFrame]

        init(
            onOpen: @escaping @Sendable () -> [WebSocketFrame],
            answer: @escaping @Sendable (String) -> [WebSocketFrame]
        ) {
            self.onOpen = onOpen
            self.answer = answer
        }

        func handlerAdded(context: ChannelHandlerContext) { send(onOpen(), context) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            switch frame.opcode {
            case .text: send(answer(String(buffer: frame.unmaskedData)), context)
            case .ping:
                send([WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)], context)
            default: break
            }
        }

        private func send(_ frames: [WebSocketFrame], _ context: ChannelHandlerContext) {
            for frame in frames { context.write(wrapOutboundOut(frame), promise: nil) }
            context.flush()
        }
    }
}

extension WebSocketFrame {
    static func text(_ text: String, fin: Bool = true) -> WebSocketFrame {
        WebSocketFrame(fin: fin, opcode: .text, data: ByteBuffer(string: text))
    }

    /// A Janus response to a request.
    static func janus(_ kind: String, to request: String, _ rest: String = "") -> WebSocketFrame {
        let transaction =
            request.firstMatch(of: /"transaction":"(\w+)"/).map { String($0.output.1) } ?? ""
        return .text(#"{"janus":"\#(kind)","transaction":"\#(transaction)"\#(rest)}"#)
    }
}
