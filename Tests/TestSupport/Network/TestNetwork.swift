import Foundation

/// Two machines and the cable between them, which can lose packets, be slow, or be pulled out.
///
/// Made without rights, where the kernel lets an ordinary user make namespaces: see ``unavailable``. It
/// ends, with every program that runs in it, when ``withTestNetwork(_:)`` does, or the test's process dies.
/// It takes about 0.1 s. Thread: any.
public final class TestNetwork: Sendable {
    /// The address of ``server``.
    public static let serverAddress = "10.77.0.1"
    private static let clientAddress = "10.77.0.2"

    /// Where servers run: 10.77.0.1.
    public let server: NetworkNamespace
    /// Where players and browsers run: 10.77.0.2.
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
    /// Loses packets of every kind at random on their way to a machine. The sender does not notice.
    ///
    /// - Parameter percent: From 0, which ends it, to 100, a cable that is in and carries nothing. To 0.1.
    public func lose(percent: Double, to machine: NetworkNamespace) async throws {
        let thousandths = Int((percent * 10).rounded())
        guard thousandths > 0 else { return try await remove("loss", from: machine) }
        try await setIngress(
            "loss", "numgen random mod 1000 < \(min(thousandths, 1000)) counter drop", of: machine)
    }

    /// Limits how much arrives at a machine.
    ///
    /// A queue of 200 ms stands before the limit, as in a router; where the kernel has none (sch_tbf), what
    /// is too much is dropped at once.
    ///
    /// - Parameter kilobits: Of 1000 bits, a second; `nil` ends it.
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

    /// Drops all datagrams that reach a machine by the cable, but those of one port.
    public func allowDatagrams(only port: Int, to machine: NetworkNamespace) async throws {
        try await setIngress("port", "udp dport != \(port) counter drop", of: machine)
    }

    /// Gives a machine another address, `10.77.0.99`, in the place of the one that it had.
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

    /// Pulls the cable out: both ends lose their carrier and routes.
    public func pullCable() async throws {
        try await server.check("/usr/sbin/ip", ["link", "set", "v0", "down"])
        try await client.check("/usr/sbin/ip", ["link", "set", "v0", "down"])
    }

    /// Puts the cable in again, and waits until it carries.
    public func plugCable() async throws {
        for machine in [server, client] {
            try await machine.check("/usr/sbin/ip", ["link", "set", "v0", "up"])
        }
        // Nothing that can be waited for tells it.
        let script = """
            /usr/sbin/ip route replace default via "$1"
            until /usr/sbin/ip link show v0 | grep -q "state UP"; do :; done
            """
        for machine in [server, client] {
            try await machine.check("sh", ["-ec", script, "sh", peer(of: machine).address])
        }
    }

    /// Puts a rule before everything else that a machine does with packets that arrive by the cable.
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
        // Added first, so that it is no error where there is none.
        try await machine.check(
            "/usr/sbin/nft", ["add table inet test_\(name); delete table inet test_\(name)"])
    }
}

/// Runs `body` with a network of its own, and ends whatever runs there afterwards.
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
