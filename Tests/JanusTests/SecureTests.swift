import MediaBridgeJanus
import TestSupport
import Testing

/// A real Janus behind TLS.
@Suite(.deadline(minutes: 2)) struct SecureTests {
    /// Runs `body` beside a server whose certificate is for 127.0.0.1 and signs itself.
    private func withServer(
        _ body: (LocalJanus, _ certificate: String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let (certificate, key) = (directory.file("cert.pem"), directory.file("key.pem"))
            try await Tool.check(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-days", "2", "-subj", "/CN=janus", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
                ])
            var options = LocalJanus.Options()
            options.tls = (certificate, key)
            try await LocalJanus.run(options) { try await body($0, certificate) }
        }
    }

    @Test func aCertificateOfOnesOwnIsTrustedWhereItIsNamed() async throws {
        try await withServer { server, certificate in
            var configuration = JanusTransport.Configuration()
            configuration.caFile = certificate
            let transport = try JanusTransport(
                server: server.address, configuration: configuration)
            let ben = RoomReceiver()
            let first = try await transport.join("hall", as: "anna")
            let second = try await transport.join("hall", as: "ben", ben)
            try await first.send("hello", to: nil)
            await ben.wait(for: .message("hello", "anna"))
            await second.leave()
            await first.leave()
        }
    }

    @Test func aCertificateThatNobodySignedIsRefused() async throws {
        try await withServer { server, _ in
            let transport = try JanusTransport(server: server.address)
            let error = try await engineError { _ = try await transport.join("hall", as: "anna") }
            #expect(error?.code == .unreachable)
            #expect(error?.advice?.contains("caFile") == true)

            var configuration = JanusTransport.Configuration()
            configuration.caFile = "/no/such/file.pem"
            let other = try JanusTransport(server: server.address, configuration: configuration)
            let missing = try await engineError { _ = try await other.join("hall", as: "anna") }
            #expect(missing?.message.contains("/no/such/file.pem") == true)
        }
    }
}
