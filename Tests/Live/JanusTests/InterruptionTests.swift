import Foundation
import MediaBridgeJanus
import TestSupport
import Testing

/// Broken connections, on a real Janus server.
@Suite(.hangGuard, .needsJanus) struct InterruptionTests {
    private func transport(
        to server: JanusServer,
        _ change: (inout JanusTransport.Configuration) -> Void = { _ in }
    ) throws -> JanusTransport {
        var configuration = JanusTransport.Configuration.patient
        change(&configuration)
        return try JanusTransport(server: server.url, configuration: configuration)
    }

    @Test func channelSurvivesAServerRestart() async throws {
        try await LocalJanus.run { server in
            let transport = try transport(to: server)
            let (anna, ben) = (RoomReceiver(), RoomReceiver())
            let first = try await transport.join("hall", as: "anna", anna)
            let second = try await transport.join("hall", as: "ben", ben)
            await anna.wait(for: .joined("ben"))
            try await server.kill()
            await anna.wait(for: .reconnecting(1, .unreachable))
            await ben.wait(for: .reconnecting(1, .unreachable))
            // Sent once the connection is restored.
            async let sent: Void = first.send("after the storm", to: nil)
            try await server.start()
            await anna.wait(for: .reconnected)
            await ben.wait(for: .reconnected)
            try await sent
            for receiver in [anna, ben] {
                let others = receiver.events.value.filter {
                    switch $0 {
                    case .joined, .left: true
                    default: false
                    }
                }
                #expect(others.count == 1)
            }
            await second.leave()
            await anna.wait(for: .left("ben", .quit))
            await first.leave()
        }
    }

    @Test func userThatDoesNotReturnIsDropped() async throws {
        try await LocalJanus.run { server in
            let transport = try transport(to: server) {
                $0.reconnection.returnTimeout = .milliseconds(500)
            }
            let anna = RoomReceiver()
            let first = try await transport.join("hall", as: "anna", anna)
            let second = try await transport.join("hall", as: "ben")
            await anna.wait(for: .joined("ben"))
            await second.leave()
            await anna.wait(for: .left("ben", .quit))
            let third = try await transport.join("hall", as: "carl")
            await anna.wait(for: .joined("carl"))
            try await server.kill()
            await anna.wait(for: .reconnecting(1, .unreachable))
            await third.leave()
            try await server.start()
            await anna.wait(for: .left("carl", .dropped))
            let events = anna.events.value
            let reconnected = try #require(events.firstIndex(of: .reconnected))
            let gone = try #require(events.firstIndex(of: .left("carl", .dropped)))
            #expect(reconnected < gone)
            await first.leave()
        }
    }

    @Test func silentServerTriggersReconnection() async throws {
        try await LocalJanus.run { server in
            let transport = try transport(to: server) { $0.silenceTimeout = .seconds(1) }
            let anna = RoomReceiver()
            let first = try await transport.join("hall", as: "anna", anna)
            server.send(signal: SIGSTOP)
            await anna.wait(for: .reconnecting(1, .unreachable))
            server.send(signal: SIGCONT)
            // The server still has the old session, with this user in it.
            await anna.wait(for: .reconnected)
            #expect(anna.events.value.last == .reconnected)
            await first.leave()
        }
    }

    @Test func reconnectionRequestsANewToken() async throws {
        var configuration = try LocalJanus.configuration()
        configuration.tokenSecret = "secret"
        configuration.rooms[0].requiresToken = true
        try await LocalJanus.run(configuration) { server in
            let transport = try transport(to: server)
            let tokens = try JanusTokens(secret: "secret")
            let requested = Observed<[TokenReason]>([])
            let isOver = Observed(false)
            let anna = RoomReceiver { (reason) throws(EngineError) in
                requested.change { $0.append(reason) }
                return isOver.value
                    ? "nonsense" : try tokens.token(forChannel: "hall", validFor: .seconds(600))
            }
            let token = try tokens.token(forChannel: "hall", validFor: .seconds(600))
            let first = try await transport.join("hall", as: "anna", token: token, anna)
            try await server.kill()
            try await server.start()
            await anna.wait(for: .reconnected)
            #expect(Set(requested.value) == [.reconnecting])
            isOver.change { $0 = true }
            try await server.kill()
            try await server.start()
            await anna.wait(for: .disconnected(.tokenForged))
            await first.leave()
        }
    }

    @Test func reconnectionTimeoutEndsTheMembership() async throws {
        try await LocalJanus.run { server in
            let transport = try transport(to: server) {
                $0.reconnection.timeout = .milliseconds(300)
            }
            let anna = RoomReceiver()
            let first = try await transport.join("hall", as: "anna", anna)
            try await server.kill()
            await anna.wait(for: .disconnected(.disconnected))
            await first.leave()
            #expect(anna.events.value.last == .disconnected(.disconnected))
        }
    }

    @Test func leavingDuringAnInterruptionIsPrompt() async throws {
        try await LocalJanus.run { server in
            let transport = try transport(to: server)
            let anna = RoomReceiver()
            let first = try await transport.join("hall", as: "anna", anna)
            try await server.kill()
            await anna.wait(for: .reconnecting(1, .unreachable))
            await first.leave()
            let count = anna.events.value.count
            try await server.start()
            #expect(anna.events.value.count == count)
        }
    }
}
