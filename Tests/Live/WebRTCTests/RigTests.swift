import Foundation
import TestSupport
import Testing

/// The test networks.
@Suite(
    .hangGuard,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct RigTests {
    @Test func testNetworkIsIsolated() async throws {
        try await withTestNetwork { network in
            let addresses = try await network.client.check("/usr/sbin/ip", ["-brief", "address"])
            #expect(addresses.contains("10.77.0.2/24"))
            #expect(addresses.split(separator: "\n").count == 2)
            #expect(try await Datagrams.arrived(of: 100, across: network) == 100)
            let listener = try LocalListener()
            let attempt = try await network.client.run(
                "bash", ["-c", "echo >/dev/tcp/127.0.0.1/\(listener.port)"])
            #expect(attempt.status != 0)
            #expect(!listener.wasReached)
        }
    }

    @Test func lossDropsTheConfiguredShareOfPackets() async throws {
        try await withTestNetwork { network in
            try await network.lose(percent: 10, to: network.server)
            let arrived = try await Datagrams.arrived(of: 4000, across: network)
            // The expected count, plus or minus six standard deviations.
            #expect((3486...3714).contains(arrived))
            try await network.lose(percent: 0, to: network.server)
            #expect(try await Datagrams.arrived(of: 1000, across: network) == 1000)
        }
    }

    @Test func rateLimitPassesOnlyTheQueuedPartOfABurst() async throws {
        try await withTestNetwork { network in
            try await network.limit(to: 1000, to: network.server)
            let arrived = try await Datagrams.arrived(of: 2000, burst: 2000, across: network)
            #expect((20..<400).contains(arrived))
            try await network.limit(to: nil, to: network.server)
            #expect(try await Datagrams.arrived(of: 1000, across: network) == 1000)
        }
    }

    @Test func reconnectedCableCarriesTraffic() async throws {
        try await withTestNetwork { network in
            try await network.pullCable()
            let attempt = try await network.client.run(
                "bash", ["-c", "echo >/dev/udp/\(network.server.address)/9"])
            #expect(attempt.status != 0)
            try await network.plugCable()
            #expect(try await Datagrams.arrived(of: 100, across: network) == 100)
        }
    }

    @Test func processesEndWithTheirNetwork() async throws {
        let programs = try await withTestNetwork { network in
            let programs = [
                try network.server.start("sh", ["-c", "echo there; exec sleep 1000"]),
                try network.client.start(
                    "sh", ["-c", "trap '' TERM; echo there; sleep 1000; true"]),
            ]
            for program in programs { try await program.waitForOutput("there") }
            return programs
        }
        for program in programs { #expect(try await program.end().status == 128 + SIGKILL) }
    }
}

/// Datagrams from the client to the server.
enum Datagrams {
    private static let receiver = """
        import selectors, socket, sys
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind((sys.argv[1], 9000))
        server = socket.create_server((sys.argv[1], 9000))
        print("listening", flush=True)
        stream, count = server.accept()[0], 0
        waiting = selectors.DefaultSelector()
        waiting.register(datagrams, selectors.EVENT_READ)
        waiting.register(stream, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in waiting.select()]
            if datagrams in ready:
                datagrams.recv(2000)
                count += 1
            elif not stream.recv(1): break
            else: stream.sendall(b".")
        print(count)
        """
    /// Pauses regularly until the receiver has read all datagrams, so that the receiver's buffer does not
    /// overflow.
    private static let sender = """
        import socket, sys
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stream = socket.create_connection((sys.argv[1], 9000))
        for number in range(int(sys.argv[2])):
            datagrams.sendto(bytes(1000), (sys.argv[1], 9000))
            if number % int(sys.argv[3]) == 0:
                stream.sendall(b".")
                stream.recv(1)
        stream.sendall(b".")
        stream.recv(1)
        """

    /// - Parameter burst: The number of datagrams sent at once.
    /// - Returns: The number of datagrams that arrived.
    static func arrived(
        of count: Int, burst: Int = 50, across network: TestNetwork
    ) async throws -> Int {
        let address = network.server.address
        let receiver = try network.server.start("/usr/bin/python3", ["-c", receiver, address])
        try await receiver.waitForOutput("listening")
        try await network.client.check(
            "/usr/bin/python3", ["-c", sender, address, "\(count)", "\(burst)"])
        let result = try await receiver.end()
        return Int(result.output.split(separator: "\n").last ?? "") ?? -1
    }
}
