import Foundation
import TestSupport
import Testing

@testable import struct MediaBridgeJanus.JanusHandle
@testable import class MediaBridgeJanus.JanusSession
@testable import struct MediaBridgeJanus.ServerAddress

/// A Janus server of one test on 127.0.0.1, for signalling only.
///
/// The room `hall` exists from the start, with a secret and a limit of two publishers.
enum LocalJanus {
    static let adminKey = "admin"
    static let roomSecret = "room-secret"

    /// The default settings.
    static func configuration() throws -> JanusServer.Configuration {
        var configuration = JanusServer.Configuration()
        configuration.port = try FreePort.tcp()
        configuration.rooms = [.init("hall")]
        configuration.rooms[0].publishers = 2
        configuration.rooms[0].secret = roomSecret
        configuration.rooms[0].videoCodecs = ["h264", "vp8"]
        return configuration
    }

    /// Runs `body` with a server, and always ends the server afterwards.
    static func run<R>(
        _ configuration: JanusServer.Configuration? = nil,
        _ body: (JanusServer) async throws -> R
    ) async throws -> R {
        let configuration = try configuration ?? Self.configuration()
        return try await withTemporaryDirectory { directory in
            let server = try await JanusServer(on: nil, in: directory, configuration)
            defer { server.send(signal: SIGKILL) }
            return try await body(server)
        }
    }
}

/// Runs `body` with a handle of a plain Janus client, whose connection closes without a leave or detach
/// request.
///
/// - Parameter token: Sent with each request.
func withHandle(
    at url: String, token: String? = nil, _ body: (JanusHandle) async throws -> Void
) async throws {
    let address = try #require(ServerAddress(url))
    var limits = JanusSession.Limits()
    (limits.request, limits.socket.connecting) = (.hangLimit, .hangLimit)
    limits.socket.silence = .hangLimit
    let session = try await JanusSession.open(address, caFile: nil, token: token, limits) { _ in }
    defer { session.close() }
    try await body(try await JanusHandle.attach(to: session))
}
