internal import Glibc
package import MediaBridgeWebRTC
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Relays WebSocket connections to a server on an abstract Unix socket, if the rules admit them.
///
/// WebSockets have no same-origin rule, and Janus accepts all pages or, with `enforce_cors`, only
/// clients with one fixed `Origin`.
package final class WebSocketRelay: Sendable {
    struct Unreachable: Error {}

    private let name: String
    private let rules: AccessRules

    /// - Parameter name: The name of the socket, without its leading zero byte.
    package init(to name: String, _ rules: AccessRules) {
        self.name = name
        self.rules = rules
    }

    /// Whether a request opens a WebSocket that the rules admit.
    func takes(_ head: HTTPRequestHead) -> Bool {
        guard head.method == .GET,
            head.headers[canonicalForm: "Upgrade"].contains(where: {
                $0.lowercased() == "websocket"
            }),
            let request = HTTPConversation.request(head)
        else { return false }
        do throws(RequestRefusal) {
            try rules.checkOrigin(of: request)
            return true
        } catch { return false }
    }

    /// Hands a request, and all that follows on its connection, to the server.
    ///
    /// - Parameter http: The HTTP handlers of the connection. They are removed once the server is
    ///   connected.
    /// - Returns: A future on the connection's event loop. It fails if the server is unreachable;
    ///   the handlers then stay.
    func pass(
        _ head: HTTPRequestHead, of client: any Channel, _ http: [any RemovableChannelHandler]
    ) -> EventLoopFuture<Void> {
        let http = NIOLoopBound(http, eventLoop: client.eventLoop)
        guard let descriptor = connected() else {
            return client.eventLoop.makeFailedFuture(Unreachable())
        }
        return ClientBootstrap(group: client.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: false)
            .channelOption(.autoRead, value: false)
            .withConnectedSocket(descriptor)
            .flatMap { server in
                let handlers = http.value.map { client.pipeline.syncOperations.removeHandler($0) }
                return EventLoopFuture.andAllSucceed(handlers, on: client.eventLoop)
                    .flatMapThrowing {
                        let gate = WebSocketGate()
                        try client.pipeline.syncOperations.addHandlers([gate, RelayEnd(to: server)])
                        try server.pipeline.syncOperations.addHandler(
                            RelayEnd(to: client) { gate.note($0) })
                        server.writeAndFlush(ByteBuffer(string: Self.text(of: head)), promise: nil)
                        _ = server.setOption(.autoRead, value: true)
                        // The HTTP handlers may have held back a read.
                        client.read()
                    }
                    .flatMapErrorThrowing { _ in
                        server.close(promise: nil)
                        client.close(promise: nil)
                    }
            }
    }

    /// Leaves out extensions: a compressed message may be a thousand times longer than its frames.
    private static func text(of head: HTTPRequestHead) -> String {
        let fields = head.headers.filter { $0.name.lowercased() != "sec-websocket-extensions" }
            .map { "\($0.name): \($0.value)\r\n" }.joined()
        return "GET \(head.uri) HTTP/1.1\r\n\(fields)\r\n"
    }

    /// Returns a socket that is connected to the server. SwiftNIO cannot address abstract sockets.
    private func connected() -> CInt? {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.dropFirst().copyBytes(from: name.utf8) }
        let length = MemoryLayout<sa_family_t>.size + 1 + name.utf8.count
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(length))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

/// One end of a relayed connection. It writes its input to the other end, at the speed at which
/// that end accepts it.
///
/// Thread: the event loop of both channels.
private final class RelayEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    private let note: (ByteBuffer) -> Void

    /// - Parameter note: Called with the input.
    init(to other: any Channel, note: @escaping (ByteBuffer) -> Void = { _ in }) {
        self.other = other
        self.note = note
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        note(bytes)
        other.write(bytes, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) { other.flush() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        _ = other.setOption(.autoRead, value: context.channel.isWritable)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
