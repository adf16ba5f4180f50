import Foundation

/// Two machines and the cable between them. The cable can lose packets, be slow, or be unplugged.
///
/// Needs no privileges where the kernel lets unprivileged users create namespaces: see
/// ``unavailable``. The network and all programs in it end when ``withTestNetwork(_:)`` returns or
/// the test's process ends. Setup takes about 0.1 s. Thread: any.
public final class TestNetwork: Sendable {
    /// The address of ``server``.
    public static let serverAddress = "10.77.0.1"
    private static let clientAddress = "10.77.0.2"

    /// The machine for servers: 10.77.0.1.
    public let server: NetworkNamespace
    /// The machine for players and browsers: 10.77.0.2.
    public let client: NetworkNamespace
    private let holder: ChildProcess
    private let input: ProgramInput

    fileprivate init() async throws {
        let addresses = [Self.serverAddress, Self.clientAddress]
        (holder, input) = try ProgramInput.start(
            "unshare",
            ["--map-root-user", "--net", "/usr/bin/python3", NetworkScript.path("test-network.py")]
                + addresses)
        try await holder.waitForOutput("\n")
        let words = holder.output.split(whereSeparator: \.isWhitespace)
        let pids = words.dropFirst().compactMap { Int32($0) }
        guard pids.count == 2 else {
            throw ChildProcess.Failure(description: "no network: \(holder.output)\(holder.errors)")
        }
        server = NetworkNamespace(address: addresses[0], holder: pids[0])
        client = NetworkNamespace(address: addresses[1], holder: pids[1])
    }

    /// Kills every program in the network, and waits until the network is gone.
    fileprivate func end() async throws {
        input.end()
        let result = try await holder.end()
        guard result.status == 0 else {
            throw ChildProcess.Failure(description: "the network's end failed: \(result.errors)")
        }
    }

    /// The other end of the cable.
    private func peer(of machine: NetworkNamespace) -> NetworkNamespace {
        machine.holder == server.holder ? client : server
    }
}

extension TestNetwork {
    /// Drops packets of every kind at random on their way to a machine. The sender gets no error.
    ///
    /// - Parameter percent: 0 (off) to 100 (a plugged cable that carries nothing), in steps of 0.1.
    public func lose(percent: Double, to machine: NetworkNamespace) async throws {
        let thousandths = Int((percent * 10).rounded())
        guard thousandths > 0 else { return try await remove("loss", from: machine) }
        try await setIngress(
            "loss", "numgen random mod 1000 < \(min(thousandths, 1000)) counter drop", of: machine)
    }

    /// Limits the bandwidth towards a machine.
    ///
    /// A queue of 200 ms precedes the limit, as in a router. If the kernel has no such queue
    /// (sch_tbf), the excess is dropped at once.
    ///
    /// - Parameter kilobits: Kilobits (1000 bits) per second; `nil` removes the limit.
    public func limit(to kilobits: Int?, to machine: NetworkNamespace) async throws {
        let sender = peer(of: machine)
        _ = try await sender.run("/usr/sbin/tc", ["qdisc", "del", "dev", "v0", "root"])
        try await remove("limit", from: machine)
        guard let kilobits else { return }
        let queue = try await sender.run(
            "/usr/sbin/tc",
            [
                "qdisc", "add", "dev", "v0", "root", "tbf", "rate", "\(kilobits)kbit", "burst",
                "16kb", "latency", "200ms",
            ])
        guard queue.status != 0 else { return }
        try await setIngress(
            "limit", "limit rate over \(kilobits * 125) bytes/second burst 16 kbytes drop",
            of: machine)
    }

    /// Drops all datagrams that arrive at a machine by the cable, except for one port.
    public func allowDatagrams(only port: Int, to machine: NetworkNamespace) async throws {
        try await setIngress("port", "udp dport != \(port) counter drop", of: machine)
    }

    /// Replaces the address of a machine with `10.77.0.99`.
    public func changeAddress(of machine: NetworkNamespace) async throws {
        let script = """
            PATH="$PATH:/usr/sbin"
            ip address add 10.77.0.99/24 dev v0
            ip address delete "$1"/24 dev v0
            ip address show dev v0 | grep -q 10.77.0.99 || ip address add 10.77.0.99/24 dev v0
            ip route replace default via "$2"
            """
        try await machine.check(
            "sh", ["-ec", script, "sh", machine.address, peer(of: machine).address])
    }

    /// Unplugs the cable: both ends lose their carrier and routes.
    public func pullCable() async throws {
        try await server.check("/usr/sbin/ip", ["link", "set", "v0", "down"])
        try await client.check("/usr/sbin/ip", ["link", "set", "v0", "down"])
    }

    /// Plugs the cable in again, and waits until it has a carrier.
    public func plugCable() async throws {
        for machine in [server, client] {
            try await machine.check("/usr/sbin/ip", ["link", "set", "v0", "up"])
        }
        // There is no event to wait for, so poll.
        let script = """
            /usr/sbin/ip route replace default via "$1"
            until /usr/sbin/ip link show v0 | grep -q "state UP"; do :; done
            """
        for machine in [server, client] {
            try await machine.check("sh", ["-ec", script, "sh", peer(of: machine).address])
        }
    }

    /// Adds a rule that precedes all other processing of packets that arrive by the cable.
    private func setIngress(
        _ name: String, _ rule: String, of machine: NetworkNamespace
    ) async throws {
        try await remove(name, from: machine)
        try await machine.check(
            "/usr/sbin/nft",
            [
                "add table inet test_\(name); add chain inet test_\(name) arriving "
                    + "{ type filter hook prerouting priority -300; }; "
                    + "add rule inet test_\(name) arriving iifname v0 \(rule)"
            ])
    }

    private func remove(_ name: String, from machine: NetworkNamespace) async throws {
        // Adds the table first: deleting a missing table is an error.
        try await machine.check(
            "/usr/sbin/nft", ["add table inet test_\(name); delete table inet test_\(name)"])
    }
}

/// Runs `body` with a new network, and ends all programs in the network afterwards.
public func withTestNetwork<R>(_ body: (TestNetwork) async throws -> R) async throws -> R {
    let network = try await TestNetwork()
    do {
        let result = try await body(network)
        try await network.end()
        return result
    } catch {
        try? await network.end()
        throw error
    }
}
