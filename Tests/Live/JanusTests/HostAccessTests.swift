import Foundation
import MediaBridgeJanus
import TestSupport
import Testing

/// Access of web pages to the server of a `gst-bridge host`, and the files that it leaves behind.
@Suite(.hangGuard, .needsJanus) struct HostAccessTests {
    private static let secret = "a secret of the server"

    @Test func pagesOfOtherOriginsDoNotReachAServerWithoutTokens() async throws {
        try await withLocalHost(["standup"]) { host in
            for port in [host.port, host.pagePort] {
                let own = "127.0.0.1:\(port)"
                for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
                    let answer = try await host.ask(port, host: own, origin: origin)
                    #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(origin): \(answer)")
                }
                let rebound = try await host.ask(
                    port, host: "evil.example:\(port)", origin: "http://evil.example:\(port)")
                #expect(rebound.hasPrefix("HTTP/1.1 421 "), "\(rebound)")
                let program = try await host.ask(port, host: own)
                #expect(program.hasPrefix("HTTP/1.1 101 "), "\(program)")
            }
            // A page may call the server at its own origin, but on no other port.
            let origin = "http://127.0.0.1:\(host.pagePort)"
            let page = try await host.ask(
                host.pagePort, path: "/standup", host: "127.0.0.1:\(host.pagePort)", origin: origin)
            #expect(page.hasPrefix("HTTP/1.1 101 "), "\(page)")
            let neighbour = try await host.ask(
                host.port, host: "127.0.0.1:\(host.port)", origin: origin)
            #expect(neighbour.hasPrefix("HTTP/1.1 403 "), "\(neighbour)")
        }
    }

    @Test func serverAcceptsOnlyConfiguredHostNames() async throws {
        try await withLocalHost(["standup", "--host-name", "meet.example"]) { host in
            for (name, status) in [("meet.example", "101"), ("evil.example", "421")] {
                let answer = try await host.ask(
                    host.pagePort, host: name, origin: "https://\(name)")
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            }
        }
    }

    @Test func tokensAllowRequestsFromAnyOrigin() async throws {
        try await withTemporaryDirectory { directory in
            let file = try directory.write(Self.secret, to: "secret")
            try await withLocalHost(["standup", "--secret-file", file]) { host in
                let answer = try await host.ask(
                    host.port, host: "meet.example", origin: "https://other.example")
                #expect(answer.hasPrefix("HTTP/1.1 101 "), "\(answer)")
            }
        }
    }

    @Test func channelPageConnectsOnlyToItsOwnServer() async throws {
        try await withLocalHost(["standup"]) { host in
            let page = try await host.ask(
                host.pagePort, path: "/standup", host: "127.0.0.1", upgrades: false)
            #expect(page.hasPrefix("HTTP/1.1 200 "))
            for text in ["connect-src 'self'", "frame-ancestors 'self'", "no-referrer"] {
                #expect(page.contains(text), "\(text)")
            }
        }
    }

    /// The printed command lines work in a shell.
    @Test func printedCommandsCreateMoreTokens() async throws {
        try await withTemporaryDirectory { directory in
            let marker = "gst-bridge token standup --secret-file"
            try await withLocalHost(["standup", "--listen", "0.0.0.0:0"]) { host in
                try await host.program.waitForErrors(to: "say how tokens are made") {
                    $0.contains("\(marker) janus-secret\n")
                }
                let lines = host.program.errors.split(separator: "\n")
                    .map { $0.replacing("gst-bridge: ", with: "", maxReplacements: 1) }
                let restart = try #require(
                    lines.first { $0.contains(" host ") && $0.contains("--secret-file") })
                #expect(restart.hasSuffix("standup --listen 0.0.0.0:0 --secret-file janus-secret"))
                let secret = try #require(lines.first { $0.contains("> janus-secret") })
                let token = try #require(lines.first { $0.contains(marker) })
                    .replacing("gst-bridge", with: Tool.gstBridge)
                let result = try await Tool.run(
                    "sh", ["-c", "cd '\(directory.path)' && \(secret) && \(token)"])
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.output.contains("room=standup"))
            }
        }
    }

    @Test func killedHostLeavesNoSecretBehind() async throws {
        try await withTemporaryDirectory { directory in
            let file = try directory.write(Self.secret, to: "secret")
            let temporary = directory.file("temporary")
            try FileManager.default.createDirectory(
                atPath: temporary, withIntermediateDirectories: false)
            try await withChildProcess(
                Tool.gstBridge,
                [
                    "host", "standup", "--listen", "127.0.0.1:0", "--port", "\(try FreePort.tcp())",
                    "--secret-file", file,
                ], environment: ["TMPDIR": temporary]
            ) { program in
                try await program.waitForErrors(to: "say where browsers join") {
                    $0.contains("browsers join at ")
                }
                program.send(signal: SIGKILL)
                _ = try await program.end()
                #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
            }
        }
    }
}
