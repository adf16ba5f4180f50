import Foundation
import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// WHIP and WHEP servers with an untrusted certificate.
@Suite(.hangGuard) struct CertificateTests {
    /// Runs `body` with a server; its argument is the host and port.
    private func withServer(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let certificate = try await TestCertificate(for: "127.0.0.1", in: directory)
            let server = "127.0.0.1:\(try FreePort.tcp())"
            try await withChildProcess(
                "openssl",
                [
                    "s_server", "-accept", server, "-cert", certificate.certificate, "-key",
                    certificate.key, "-www",
                ]
            ) { process in
                try await process.waitForOutput("ACCEPT")
                try await body(server)
            }
        }
    }

    @Test func sourceErrorNamesTheServerAndTheCause() async throws {
        try await withServer { server in
            let source = try PipelineVideoSource(
                whep: "https://\(server)/whep?secret=1", token: "tok")
            let error = try await #require(throws: PipelineError.self) {
                for try await _ in source.encodedFrames() {}
            }
            expect(error, toName: server)
        }
    }

    @Test func sinkErrorNamesTheServerAndTheCause() async throws {
        try await withServer { server in
            let engine = MediaEngine()
            let events = engine.events
            try await engine.setVideoSource(PipelineVideoSource("videotestsrc is-live=true"))
            try await engine.addVideoSink(
                WHIPSink("https://\(server)/whip?secret=1", token: "tok"), to: .local())
            try await engine.startPreview()
            let error = await events.first { event in
                if case .sinkFailed(.video, let error) = event { error } else { nil }
            }
            expect(try #require(error), toName: server)
            await engine.shutDown()
        }
    }

    private func expect(_ error: any Error, toName server: String) {
        let text = "\(error)"
        #expect(text.contains("https://\(server)"), "\(text)")
        #expect(text.contains("certificate"), "\(text)")
        #expect(text.contains("not trusted: CERTIFICATE_VERIFY_FAILED"), "\(text)")
        #expect(text.contains("update-ca-certificates"), "\(text)")
        #expect(!text.contains("secret"), "\(text)")
    }
}
