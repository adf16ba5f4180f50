import Foundation
import TestSupport
import Testing

/// Calls that reach the peer only through a TURN server.
@Suite(
    .hangGuard, .needsJanus,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct CallRelayTests {
    @Test func usersBehindARelaySeeEachOtherAndAWrongPasswordIsReported() async throws {
        var configuration = JanusServer.Configuration()
        configuration.rooms = [.init(Call.room)]
        try await Call.run(configuration) { call in
            let turn = try await TurnServer(on: call.network.server, in: call.directory)
            try await call.network.allowDatagrams(only: turn.port, to: call.network.server)
            let names = ["alice", "bob"]
            var users: [ChildProcess] = []
            for (name, other) in zip(names, names.reversed()) {
                users.append(
                    try call.network.client.start(
                        Tool.built("CallProbe"),
                        ["user", name, other, call.janus.url, try await turn.address(for: name)],
                        environment: Call.patience))
            }
            for user in users {
                try await user.waitForOutput("sending")
                try await user.waitForOutput("enough")
            }
            for name in names {
                // One for sending and one for receiving.
                #expect(turn.allocations(of: name) >= 2, "\(turn.process.output)")
            }
            let address = try await turn.address(for: "carol", isGood: false)
            let carol = try await call.network.client.run(
                Tool.built("CallProbe"), ["user", "carol", "bob", call.janus.url, address],
                environment: Call.patience)
            #expect(carol.status == 1)
            #expect(carol.errors.contains("TURN"), "\(carol.errors)")
            #expect(carol.errors.contains("password"), "\(carol.errors)")
        }
    }
}
