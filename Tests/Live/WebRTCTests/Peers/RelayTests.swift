import Foundation
import TestSupport
import Testing

/// WHEP and WHIP sessions that reach the server only through a TURN server.
@Suite(
    .hangGuard, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct RelayTests {
    private static let capture =
        "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=30/1"

    /// Runs `body` with a TURN server; the client's datagrams reach nothing else on the server's machine.
    private func withRelay(
        _ body: (TestNetwork, TurnServer, TemporaryDirectory) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let turn = try await TurnServer(on: network.server, in: directory)
                try await network.allowDatagrams(only: turn.port, to: network.server)
                try await body(network, turn, directory)
            }
        }
    }

    @Test func sharedMediaIsPlayedThroughARelay() async throws {
        try await withRelay { network, turn, _ in
            let share = try await ServingProgram(
                ["share", "--capture", Self.capture], on: network.server)
            for transport in ["udp", "tcp"] {
                let player = try await network.client.run(
                    Tool.built("CallProbe"),
                    [
                        "whep", "\(share.origin)/whep",
                        try await turn.address(for: transport, transport: transport),
                    ])
                #expect(player.status == 0, "\(transport) \(player.errors)")
                #expect(player.output.contains("enough"), "\(transport)")
                #expect(turn.allocations(of: transport) > 0, "\(turn.process.output)")
            }
            try await expectRefusal("whep", share, network, turn)
            _ = try await share.end()
        }
    }

    @Test func sentMediaIsReceivedThroughARelay() async throws {
        try await withRelay { network, turn, directory in
            let receive = try await ServingProgram(
                ["receive", "--record", directory.path], on: network.server)
            let sender = try network.client.start(
                Tool.built("CallProbe"),
                [
                    "whip", "\(receive.origin)/whip?name=cam",
                    try await turn.address(for: "cam"),
                ])
            try await receive.waitForRecording(of: "cam")
            try await receive.waitForPictures(15)
            sender.send(signal: SIGKILL)
            _ = try await sender.end()
            #expect(turn.allocations(of: "cam") > 0, "\(turn.process.output)")
            try await expectRefusal("whip", receive, network, turn)
            let files = try #require(try await receive.end().files)
            #expect(files.count == 1)
            let file = try #require(files.first)
            #expect(try await MediaProbe(of: file.path).video?.frames == file.frames)
        }
    }

    /// Expects an error that names the reason, but not the password.
    private func expectRefusal(
        _ role: String, _ server: ServingProgram, _ network: TestNetwork, _ turn: TurnServer
    ) async throws {
        let peer = try await network.client.run(
            Tool.built("CallProbe"),
            [
                role, "\(server.origin)/\(role)",
                try await turn.address(for: "peer", isGood: false),
            ])
        #expect(peer.status == 1)
        #expect(peer.errors.contains("TURN"), "\(peer.errors)")
        #expect(peer.errors.contains("password"), "\(peer.errors)")
        #expect(!peer.errors.contains("wrong@"))
        #expect(turn.allocations(of: "peer") == 0)
    }
}
