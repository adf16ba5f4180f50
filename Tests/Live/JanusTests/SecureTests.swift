import MediaBridgeJanus
import TestSupport
import Testing

/// A real Janus server behind TLS.
@Suite(.hangGuard, .needsJanus, .serialized) struct SecureTests {
    /// Runs `body` with a server whose certificate is for 127.0.0.1.
    private func withServer(
        _ body: (JanusServer, TestCertificate) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var configuration = try LocalJanus.configuration()
            let certificate = try await TestCertificate(for: "127.0.0.1", in: directory)
            configuration.certificate = certificate
            try await LocalJanus.run(configuration) { try await body($0, certificate) }
        }
    }

    @Test func selfSignedCertificateIsTrustedWithACAFile() async throws {
        try await withServer { server, certificate in
            var configuration = JanusTransport.Configuration.patient
            configuration.caFile = certificate.authority
            let transport = try JanusTransport(server: server.url, configuration: configuration)
            let ben = RoomReceiver()
            let first = try await transport.join("hall", as: "anna")
            let second = try await transport.join("hall", as: "ben", ben)
            try await first.send("hello", to: nil)
            await ben.wait(for: .message("hello", "anna"))
            #expect(ben.events.value.last == .message("hello", "anna"))
            await second.leave()
            await first.leave()
        }
    }

    @Test func aCertificateOfAnUnknownAuthorityIsRefused() async throws {
        try await withServer { server, _ in
            let transport = try JanusTransport(to: server)
            let error = try await engineError { _ = try await transport.join("hall", as: "anna") }
            #expect(error?.code == .unreachable)
            #expect(error?.advice?.contains("caFile") == true)
            let authority = server.url.split(separator: "/")[1]
            #expect(error?.message.contains(authority) == true)
            #expect(error?.message.contains("CERTIFICATE_VERIFY_FAILED") == true, "\(error as Any)")

            var configuration = JanusTransport.Configuration.patient
            configuration.caFile = "/no/such/file.pem"
            let other = try JanusTransport(server: server.url, configuration: configuration)
            let missing = try await engineError { _ = try await other.join("hall", as: "anna") }
            #expect(missing?.message.contains("/no/such/file.pem") == true)
        }
    }

    @Test func certificateForAnotherHostIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = try LocalJanus.configuration()
            let certificate = try await TestCertificate(for: "127.0.0.2", in: directory)
            configuration.certificate = certificate
            try await LocalJanus.run(configuration) { server in
                var configuration = JanusTransport.Configuration.patient
                configuration.caFile = certificate.authority
                let transport = try JanusTransport(server: server.url, configuration: configuration)
                let error = try await engineError {
                    _ = try await transport.join("hall", as: "anna")
                }
                #expect(error?.code == .unreachable)
                let authority = server.url.split(separator: "/")[1]
                #expect(error?.message.contains(authority) == true, "\(error as Any)")
            }
        }
    }

    @Test(.enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
    func callOverTLSRequiresATrustedCertificate() async throws {
        try await withTemporaryDirectory { directory in
            let certificate = try await TestCertificate(
                for: TestNetwork.serverAddress, in: directory)
            var configuration = JanusServer.Configuration()
            configuration.certificate = certificate
            try await Call.run(configuration) { call in
                let trusting = ["--ca-file", certificate.authority]
                let alice = try call.call("alice", trusting)
                let bob = try call.call("bob", trusting)
                try await alice.waitsForPictures(of: "bob", 3)
                try await bob.waitsForPictures(of: "alice", 3)
                let carol = try await call.join("carol").end()
                #expect(carol.status == 1)
                #expect(carol.errors.contains("\(TestNetwork.serverAddress):8188"))
                #expect(carol.errors.contains("CERTIFICATE_VERIFY_FAILED"), "\(carol.errors)")
                _ = try await alice.report()
                _ = try await bob.report()
            }
        }
    }
}
