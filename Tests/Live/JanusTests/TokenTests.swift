import Foundation
import MediaBasics
import MediaBridgeJanus
import TestSupport
import Testing

/// Admission to a room: on a real Janus server with signed tokens, and on one with a PIN.
@Suite(.hangGuard, .needsJanus) struct TokenTests {
    private let secret = "a secret of the server"

    private func withServer(
        _ body: (JanusServer, JanusTransport, JanusTokens) async throws -> Void
    ) async throws {
        var configuration = try LocalJanus.configuration()
        configuration.tokenSecret = secret
        configuration.rooms[0].requiresToken = true
        try await LocalJanus.run(configuration) { server in
            try await body(
                server, try JanusTransport(to: server), try JanusTokens(secret: secret))
        }
    }

    @Test func invalidTokenErrorNamesTheCause() async throws {
        try await withServer { _, transport, tokens in
            let good = try tokens.token(forChannel: "hall", validFor: .seconds(3600))
            let parts = good.split(separator: " ").map(String.init)
            let other = try tokens.token(forChannel: "attic", validFor: .seconds(3600))
            let expired = try tokens.token(
                forChannel: "hall", validFor: .seconds(1), from: Date(timeIntervalSinceNow: -60))
            let forged = try JanusTokens(secret: "another secret")
                .token(forChannel: "hall", validFor: .seconds(3600))
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

    /// Only the renewal timer advances: all tokens are valid for an hour.
    @Test func tokenIsRenewedBeforeExpiryAndAnInvalidOneEndsTheMembership()
        async throws
    {
        try await withServer { server, _, tokens in
            let clock = StoppedClock()
            var configuration = JanusTransport.Configuration.patient
            configuration.timeline = clock
            let transport = try JanusTransport(server: server.url, configuration: configuration)
            let requested = Observed<[TokenReason]>([])
            let anna = RoomReceiver { (reason) throws(EngineError) in
                let count = requested.change { requested in
                    requested.append(reason)
                    return requested.count
                }
                return count == 1
                    ? try tokens.token(forChannel: "hall", validFor: .seconds(3600)) : "nonsense"
            }
            let token = try tokens.token(forChannel: "hall", validFor: .seconds(3600))
            let member = try await transport.join("hall", as: "anna", token: token, anna)
            // The renewal is due 30 s before expiry. The token's expiry is in whole seconds, and time passes
            // while the user joins.
            let first = await clock.ring()
            #expect(first <= .seconds(3571), "\(first)")
            await requested.wait { $0.count == 1 }
            try await member.send("hello", to: nil)
            // The next renewal is scheduled after the new token has been accepted.
            await clock.ring()
            await anna.wait(for: .disconnected(.tokenForged))
            #expect(requested.value == [.expiring, .expiring])
            #expect(anna.events.value == [.disconnected(.tokenForged)])
            await member.leave()
        }
    }

    @Test func roomWithAPINRequiresIt() async throws {
        var configuration = try LocalJanus.configuration()
        configuration.rooms[0].pin = "4711"
        try await LocalJanus.run(configuration) { server in
            for (pin, code) in [(nil, EngineError.Code.tokenMissing), ("1", .tokenForged)] {
                var configuration = JanusTransport.Configuration.patient
                configuration.pin = pin
                let transport = try JanusTransport(
                    server: server.url, configuration: configuration)
                let error = try await engineError {
                    _ = try await transport.join("hall", as: "anna")
                }
                #expect(error?.code == code)
            }
            var configuration = JanusTransport.Configuration.patient
            configuration.pin = "4711"
            let transport = try JanusTransport(
                server: server.url, configuration: configuration)
            let member = try await transport.join("hall", as: "anna")
            await member.leave()
        }
    }

    @Test func serverWithNumericRoomIDsIsAnError() async throws {
        var configuration = try LocalJanus.configuration()
        configuration.hasNames = false
        configuration.rooms[0].name = "1234"
        try await LocalJanus.run(configuration) { server in
            let transport = try JanusTransport(to: server)
            let error = try await engineError {
                _ = try await transport.join("1234", as: "anna")
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.advice?.contains("string_ids") == true)
        }
    }
}

/// A stopped clock, whose alarms a test fires.
private final class StoppedClock: Timeline {
    private typealias Alarm = (delay: Duration, queue: SerialQueue, body: @Sendable () -> Void)
    private let alarms = Observed<[UInt64: Alarm]>([:])
    private let last = Observed<UInt64>(0)
    let now = Duration.zero

    func schedule(
        after delay: Duration, on queue: SerialQueue, _ body: @escaping @Sendable () -> Void
    ) -> UInt64 {
        let number = last.change { last in
            last += 1
            return last
        }
        alarms.change { $0[number] = (delay, queue, body) }
        return number
    }

    func cancel(_ number: UInt64) { alarms.change { $0[number] = nil } }

    /// Waits for an alarm, and fires it.
    ///
    /// - Returns: The delay of the alarm.
    @discardableResult
    func ring() async -> Duration {
        await alarms.wait { !$0.isEmpty }
        guard let alarm = alarms.change({ $0.popFirst()?.value }) else { return .zero }
        alarm.queue.async(alarm.body)
        return alarm.delay
    }
}
