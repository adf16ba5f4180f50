import Foundation
import TestSupport
import Testing

/// WHEP and WHIP through a TURN server alone, where datagrams have no other way.
@Suite(
    .deadline(minutes: 2), .serialized,
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

    @Test(arguments: ["udp", "tcp"]) func whatIsSharedIsPlayed(transport: String) async throws {
        try await withRelay { network, turn, _ in
            let share = try await ServingProgram(
                ["share", "--capture", Self.capture], on: network.server)
            let player = try await network.client.run(
                Tool.built("CallProbe"),
                [
                    "whep", "\(share.origin)/whep",
                    try await turn.address(for: "player", transport: transport),
                ])
            #expect(player.status == 0, "\(player.errors)")
            #expect(player.output.contains("enough"))
            #expect(turn.allocations(of: "player") > 0, "\(turn.process.output)")
            _ = try await share.end()
        }
    }

    @Test func whatIsSentIsReceived() async throws {
        try await withRelay { network, turn, directory in
            let receive = try await ServingProgram(
                ["receive", "--record", directory.path], on: network.server)
            let sender = try network.client.start(
                Tool.built("CallProbe"),
                [
                    "whip", "\(receive.origin)/whip?name=cam",
                    try await turn.address(for: "cam"),
                ])
            try await receive.process.waitForErrors(to: "receive pictures") {
                $0.contains("1 sender  2") || $0.contains("1 sender  3")
            }
            sender.send(signal: SIGKILL)
            _ = try await sender.end()
            #expect(turn.allocations(of: "cam") > 0, "\(turn.process.output)")
            let file = try #require(try await receive.end().files?.first)
            #expect(try await MediaProbe(of: file.path).video?.frames == file.frames)
        }
    }

    @Test(arguments: ["whep", "whip"]) func aWrongPasswordIsTold(role: String) async throws {
        try await withRelay { network, turn, _ in
            let serving =
                role == "whep"
                ? ["share", "--capture", Self.capture] : ["receive", "--output", "fakevideosink"]
            let server = try await ServingProgram(serving, on: network.server)
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
            _ = try await server.end()
        }
    }
}
