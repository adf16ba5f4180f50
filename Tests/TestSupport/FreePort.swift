import Foundation

/// Unused ports.
public enum FreePort {
    /// A UDP port of 127.0.0.1 that was free a moment ago.
    public static func udp() throws -> Int { try port(SOCK_DGRAM) }

    /// A UDP port for RTP, and the next one, for RTCP.
    public static func udpPair() throws -> (Int, Int) {
        for _ in 0..<100 {
            let port = try udp()
            if claim(port + 1), try probe(port + 1, SOCK_DGRAM) != nil { return (port, port + 1) }
        }
        throw ChildProcess.Failure(description: "no two free ports")
    }

    /// A TCP port of 127.0.0.1 that was free a moment ago.
    public static func tcp() throws -> Int { try port(SOCK_STREAM) }

    /// Outside the ephemeral range: the kernel could give such a port to another program in the
    /// meantime.
    private static let range = 20_000..<32_000

    private static func port(_ type: __socket_type) throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: range)
            if claim(port), let port = try probe(port, type) { return port }
        }
        throw ChildProcess.Failure(description: "no free port")
    }

    /// Keeps other tests, in any process, from getting the port before it is used.
    ///
    /// - Returns: False if another test has claimed it.
    private static func claim(_ port: Int) -> Bool {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let claim = socket(AF_UNIX, kind, 0)
        guard claim >= 0 else { return false }
        // An abstract socket: it disappears with the process.
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = "mediabridge-port-\(port)"
        withUnsafeMutableBytes(of: &address.sun_path) { $0.dropFirst().copyBytes(from: name.utf8) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(claim, $0, length) }
        }
        if status != 0 { close(claim) }
        return status == 0
    }

    /// - Returns: `nil` if the port is taken.
    private static func probe(_ port: Int, _ type: __socket_type) throws -> Int? {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        guard descriptor >= 0 else { throw ChildProcess.Failure(description: "no socket") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(port).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
            }
        }
        return status == 0 ? port : nil
    }
}
