import Foundation
import TestSupport
import Testing

/// Calls through a TURN server alone, where datagrams have no other way.
@Suite(
    .deadline(minutes: 2), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CallRelayTests {
    private static var configuration: JanusServer.Configuration {
        var configuration = JanusServer.Configuration()
        configuration.rooms = [.init(Call.room)]
        return configuration
    }

    @Test func usersBehindARelaySeeEachOther() async throws {
        try await Call.run(Self.configuration) { call in
            let turn = try await TurnServer(on: call.network.server, in: call.directory)
            try await call.network.allowDatagrams(only: turn.port, to: call.network.server)
            let names = ["alice", "bob"]
            var users: [ChildProcess] = []
            for (name, other) in zip(names, names.reversed()) {
                users.append(
                    try call.network.client.start(
                        Tool.built("CallProbe"),
                        ["user", name, other, call.janus.url, try await turn.address(for: name)]))
            }
            for user in users {
                try await user.waitForOutput("sending")
                try await user.waitForOutput("enough")
            }
            for name in names {
                // One to send, and one to receive.
                #expect(turn.allocations(of: name) >= 2, "\(turn.process.output)")
            }
        }
    }

    @Test func aWrongPasswordIsTold() async throws {
        try await Call.run(Self.configuration) { call in
            let turn = try await TurnServer(on: call.network.server, in: call.directory)
            let address = try await turn.address(for: "alice", isGood: false)
            let alice = try await call.network.client.run(
                Tool.built("CallProbe"), ["user", "alice", "bob", call.janus.url, address])
            #expect(alice.status == 1)
            #expect(alice.errors.contains("TURN"), "\(alice.errors)")
            #expect(alice.errors.contains("password"), "\(alice.errors)")
        }
    }
}
