import Foundation

/// Ports that nobody uses.
public enum FreePort {
    /// A UDP port of 127.0.0.1 that was free a moment ago.
    public static func udp() throws -> Int { try port(SOCK_DGRAM) }

    /// A TCP port of 127.0.0.1 that was free a moment ago.
    public static func tcp() throws -> Int { try port(SOCK_STREAM) }

    private static func port(_ type: __socket_type) throws -> Int {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        guard descriptor >= 0 else { throw ChildProcess.Failure(description: "no socket") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0 else { throw ChildProcess.Failure(description: "no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
