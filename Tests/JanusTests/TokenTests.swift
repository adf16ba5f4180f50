import Foundation
import MediaBridgeJanus
import TestSupport
import Testing

/// Who may join, at a real Janus with signed tokens, and at one with a PIN.
@Suite(.deadline(minutes: 2)) struct TokenTests {
    private let secret = "a secret of the server"

    private func withServer(
        _ body: (JanusServer, JanusTransport, JanusTokens) async throws -> Void
    ) async throws {
        var configuration = try LocalJanus.configuration()
        configuration.tokenSecret = secret
        configuration.rooms[0].requiresToken = true
        try await LocalJanus.run(configuration) { server in
            try await body(
                server, try JanusTransport(server: server.url), try JanusTokens(secret: secret))
        }
    }

    @Test func aTokenAdmits() async throws {
        try await withServer { _, transport, tokens in
            let token = try tokens.token(channel: "hall", validFor: .seconds(60))
            let member = try await transport.join("hall", as: "anna", token: token)
            await member.leave()
        }
    }

    @Test func whatIsWrongWithATokenIsTold() async throws {
        try await withServer { _, transport, tokens in
            let good = try tokens.token(channel: "hall", validFor: .seconds(60))
            let parts = good.split(separator: " ").map(String.init)
            let other = try tokens.token(channel: "attic", validFor: .seconds(60))
            let expired = try tokens.token(
                channel: "hall", validFor: .seconds(1), now: Date(timeIntervalSinceNow: -60))
            let forged = try JanusTokens(secret: "another secret")
                .token(channel: "hall", validFor: .seconds(60))
            let forgedRoom = "\(parts[0]) \(forged.split(separator: " ")[1])"
            let expiredRoom = "\(parts[0]) \(expired.split(separator: " ")[1])"
            let cases: [(String?, EngineError.Code)] = [
                (nil, .tokenMissing), (other, .tokenNotForThis), (expired, .tokenExpired),
                (expiredRoom, .tokenExpired), (forged, .tokenForged), (forgedRoom, .tokenForged),
                ("nonsense", .tokenForged), (parts[0], .tokenNotForThis),
            ]
            for (token, code) in cases {
                let error = try await engineError {
                    _ = try await transport.join("hall", as: "anna", token: token)
                }
                #expect(error?.code == code)
                for secret in [token, parts[1]].compactMap({ $0 }) {
                    #expect(error?.description.contains(secret) == false)
                }
            }
        }
    }

    @Test func anotherTokenIsAskedForBeforeOneExpires() async throws {
        try await withServer { _, transport, tokens in
            let asked = Observed<[TokenReason]>([])
            let anna = RoomReceiver { (reason) throws(EngineError) in
                asked.change { $0.append(reason) }
                return try tokens.token(channel: "hall", validFor: .seconds(600))
            }
            let token = try tokens.token(channel: "hall", validFor: .seconds(12))
            let member = try await transport.join("hall", as: "anna", token: token, anna)
            await asked.wait { !$0.isEmpty }
            #expect(asked.value == [.expiring])
            // With the new one, what follows is possible.
            try await member.send("hello", to: nil)
            await member.leave()
            #expect(anna.events.value.isEmpty)
        }
    }

    @Test func aNewTokenThatIsNotValidEndsTheMembership() async throws {
        try await withServer { _, transport, tokens in
            let anna = RoomReceiver { (_) throws(EngineError) in "nonsense" }
            let token = try tokens.token(channel: "hall", validFor: .seconds(10))
            let member = try await transport.join("hall", as: "anna", token: token, anna)
            await anna.wait(for: .disconnected(.tokenForged))
            await member.leave()
        }
    }

    @Test func aPINAdmits() async throws {
        var configuration = try LocalJanus.configuration()
        configuration.rooms[0].pin = "4711"
        try await LocalJanus.run(configuration) { server in
            for (pin, code) in [(nil, EngineError.Code.tokenMissing), ("1", .tokenForged)] {
                var configuration = JanusTransport.Configuration()
                configuration.pin = pin
                let transport = try JanusTransport(
                    server: server.url, configuration: configuration)
                let error = try await engineError {
                    _ = try await transport.join("hall", as: "anna")
                }
                #expect(error?.code == code)
            }
            var configuration = JanusTransport.Configuration()
            configuration.pin = "4711"
            let transport = try JanusTransport(
                server: server.url, configuration: configuration)
            let member = try await transport.join("hall", as: "anna")
            await member.leave()
        }
    }

    @Test func aServerWithNumbersAsNamesIsTold() async throws {
        var configuration = try LocalJanus.configuration()
        configuration.hasNames = false
        configuration.rooms[0].name = "1234"
        try await LocalJanus.run(configuration) { server in
            let transport = try JanusTransport(server: server.url)
            let error = try await engineError {
                _ = try await transport.join("1234", as: "anna")
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.advice?.contains("string_ids") == true)
        }
    }

    @Test func tokensAreThoseOfJanus() throws {
        let tokens = try JanusTokens(secret: "key")
        let token = try tokens.token(
            channel: "hall", validFor: .seconds(10), now: Date(timeIntervalSince1970: 1_000_000))
        // By openssl dgst -sha1 -hmac key -binary | base64.
        #expect(
            token == "1000010,janus,janus.plugin.videoroom:pN+Y6PTu4oU0xheeSWo2kcjeA/c= "
                + "1000010,janus.plugin.videoroom,room=hall:8yHlopmVvwLpbgPjHGpgRT70YRI=")
        for name in ["", "a,b", "a:b", String(repeating: "x", count: 91)] {
            #expect(throws: EngineError.self) {
                _ = try tokens.token(channel: name, validFor: .seconds(1))
            }
        }
    }
}
