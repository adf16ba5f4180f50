import Foundation

/// Ports that nobody uses.
public enum FreePort {
    /// A UDP port of 127.0.0.1 that was free a moment ago.
    public static func udp() throws -> Int { try port(SOCK_DGRAM) }

    /// A TCP port of 127.0.0.1 that was free a moment ago.
    public static func tcp() throws -> Int { try port(SOCK_STREAM) }

    /// Not those that the kernel gives to whoever names none: others would get the same in the meantime.
    private static let range = 20_000..<32_000

    private static func port(_ type: __socket_type) throws -> Int {
        for _ in 0..<100 {
            if let port = try probe(Int.random(in: range), type) { return port }
        }
        throw ChildProcess.Failure(description: "no free port")
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
