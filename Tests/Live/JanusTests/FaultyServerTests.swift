import Foundation
import MediaBridgeJanus
import NIOCore
import NIOPosix
import NIOWebSocket
import TestSupport
import Testing

@testable import class MediaBridgeJanus.JanusSession
@testable import struct MediaBridgeJanus.ServerAddress

/// Servers that are not Janus, or that violate its protocol.
@Suite(.hangGuard, .needsJanus) struct FaultyServerTests {
    /// Joins, by default with deadlines so long that none decides the test.
    private func join(
        _ address: String, within deadline: Duration = .hangLimit
    ) async throws -> EngineError? {
        var configuration = JanusTransport.Configuration()
        configuration.connectTimeout = deadline
        configuration.requestTimeout = deadline
        let transport = try JanusTransport(server: address, configuration: configuration)
        return try await engineError { _ = try await transport.join("hall", as: "anna") }
    }

    @Test func closedPortIsUnreachable() async throws {
        let error = try await join("ws://127.0.0.1:\(try FreePort.tcp())/janus")
        #expect(error?.code == .unreachable)
        #expect(try await join("ws://no.such.host.invalid/janus")?.code == .unreachable)
    }

    @Test func unansweredConnectionTimesOut() async throws {
        let listener = try LocalListener()
        let error = try await join(
            "ws://127.0.0.1:\(listener.port)/janus", within: .milliseconds(100))
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("within 0.1 seconds") == true, "\(error as Any)")
    }

    @Test func serverThatClosesTheConnectionIsUnreachable() async throws {
        for text in ["", "HTTP/1.1 101 Switching", "HTTP/1.1 200 OK\r\n\r\n", "\u{0}\r\n\r\n"] {
            let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in
                        channel.close(promise: nil)
                    }
                    return channel.eventLoop.makeSucceededVoidFuture()
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(server.localAddress?.port)
            #expect(try await join("ws://127.0.0.1:\(port)/janus")?.code == .unreachable)
            try await server.close().get()
        }
    }

    @Test func cancelledJoinEndsImmediately() async throws {
        let listener = try LocalListener()
        let transport = try JanusTransport(server: "ws://127.0.0.1:\(listener.port)/janus")
        let joining = Task {
            try await engineError { _ = try await transport.join("hall", as: "anna") }
        }
        joining.cancel()
        #expect(try await joining.value?.code == .disconnected)
    }

    @Test func webSocketWithAnotherProtocolIsRefused() async throws {
        let server = try await FaultyServer(isHonest: false) { _ in [] }
        let error = try await join(server.address)
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("not a Janus") == true, "\(error?.message ?? "")")
        await server.close()
    }

    @Test func unansweredRequestTimesOut() async throws {
        let server = try await FaultyServer { _ in [] }
        let error = try await join(server.address, within: .milliseconds(500))
        #expect(error?.code == .unreachable)
        await server.close()
    }

    @Test func invalidResponsesAreErrors() async throws {
        for rest in ["", #","data":{}"#, #","data":{"id":"x"}"#, #","error":{"code":490}"#] {
            let server = try await FaultyServer { [.janus("success", to: $0, rest)] }
            // Some of these messages are not responses at all: the deadline ends the wait.
            let error = try await join(server.address, within: .milliseconds(100))
            #expect(error != nil)
            await server.close()
        }
    }

    @Test func unknownMessagesAreIgnoredAndCounted() async throws {
        let noise: [WebSocketFrame] = [
            .text("garbage"), .text(#"{"janus":"event","sender":5,"plugindata":{"data":{}}}"#),
            .text(#"{"janus":"success","transaction":"nobody's"}"#), .text(#"{"janus":"news"}"#),
            .text(#"{"janus":"trickle","sender":7}"#),
            WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: [0, 255])),
            WebSocketFrame(fin: true, opcode: .pong, data: ByteBuffer()),
        ]
        let rounds = 200
        let server = try await FaultyServer { request in
            let all = (0..<rounds).flatMap { _ in noise }
            if request.contains("keepalive") { return all + [.janus("ack", to: request)] }
            return [.janus("success", to: request, #","data":{"id":1}"#)]
        }
        let address = try #require(ServerAddress(server.address))
        let ended = Observed(false)
        var limits = JanusSession.Limits()
        (limits.request, limits.socket.silence) = (.hangLimit, .hangLimit)
        // No keep-alive disturbs the requests of the test.
        limits.keepAlive = .seconds(600)
        let session = try await JanusSession.open(address, caFile: nil, token: nil, limits) {
            event in
            if case .ended = event { ended.change { $0 = true } }
        }
        for _ in 0..<3 { try await session.confirm() }
        let ignored = session.ignored
        #expect(ignored.garbage == 6 * rounds)
        #expect(ignored.answers == 3 * rounds)
        #expect(ignored.events == 9 * rounds)
        #expect(session.waitingRequests == 0)
        #expect(!ended.value)
        session.close()
        await ended.wait { $0 }
        await server.close()
    }

    @Test func oversizedMessagesEndTheConnection() async throws {
        let part = String(repeating: "x", count: 1 << 19)
        let whole = [WebSocketFrame.text(part + part + part)]
        let parts: [WebSocketFrame] =
            [.text(part, fin: false)]
            + (0..<4).map { _ in
                WebSocketFrame(
                    fin: false, opcode: .continuation, data: ByteBuffer(string: part))
            }
        for frames in [whole, parts] {
            let server = try await FaultyServer { _ in frames }
            #expect(try await join(server.address)?.code == .unreachable)
            await server.close()
        }
    }

    @Test func invalidWebSocketBytesCloseTheConnection() async throws {
        let server = try await FaultyServer { _ in
            [WebSocketFrame(fin: true, opcode: .continuation, data: ByteBuffer(string: "?"))]
        }
        #expect(try await join(server.address)?.code == .unreachable)
        await server.close()
    }
}
