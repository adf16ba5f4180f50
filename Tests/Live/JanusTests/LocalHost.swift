import Foundation
import TestSupport
import Testing

/// A `gst-bridge host` on 127.0.0.1.
struct LocalHost {
    let program: ChildProcess
    let port: UInt16
    /// The port of the pages.
    let pagePort: UInt16

    /// The server URL for programs.
    var server: String { "ws://127.0.0.1:\(port)" }

    /// Requests a WebSocket, or a page.
    ///
    /// - Returns: The first part of the response.
    func ask(
        _ port: UInt16, path: String = "/", host: String, origin: String? = nil,
        upgrades: Bool = true
    ) async throws -> String {
        let upgrade = """
            Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: janus-protocol\r\n
            """
        let request =
            "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n"
            + (origin.map { "Origin: \($0)\r\n" } ?? "") + (upgrades ? upgrade : "") + "\r\n"
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                continuation.resume(
                    with: Result {
                        let connection = try RawConnection(to: port)
                        connection.write(request)
                        return connection.read()
                    })
            }.start()
        }
    }
}

/// Runs `body` with a `gst-bridge host`, which must end cleanly afterwards unless it has already
/// ended.
func withLocalHost(
    _ arguments: [String], environment: [String: String] = [:],
    _ body: (LocalHost) async throws -> Void
) async throws {
    let port = try FreePort.tcp()
    try await withChildProcess(
        Tool.gstBridge, ["host", "--listen", "127.0.0.1:0", "--port", "\(port)"] + arguments,
        environment: environment
    ) { program in
        try await program.waitForErrors(to: "say where browsers join") {
            $0.contains("browsers join at http://127.0.0.1:")
        }
        let page = try #require(program.errors.firstMatch(of: /http:\/\/127.0.0.1:(\d+)/))
        let pagePort = try #require(UInt16(page.1))
        try await body(LocalHost(program: program, port: UInt16(port), pagePort: pagePort))
        program.send(signal: SIGTERM)
        #expect(try await program.end().status == 0)
    }
}
