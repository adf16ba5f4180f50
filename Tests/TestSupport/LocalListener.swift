import Foundation

/// A TCP port and a UDP port on 127.0.0.1 that accept any client.
public final class LocalListener: Sendable {
    /// The same number for TCP and UDP.
    public let port: Int
    private let stream: Int32
    private let datagrams: Int32

    public init() throws {
        for _ in 0..<20 {
            let stream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            guard let port = Self.bind(stream, to: 0), Self.bind(datagrams, to: port) != nil,
                listen(stream, 16) == 0
            else {
                close(stream)
                close(datagrams)
                continue
            }
            for descriptor in [stream, datagrams] {
                _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            }
            (self.port, self.stream, self.datagrams) = (Int(port), stream, datagrams)
            return
        }
        throw ChildProcess.Failure(description: "no free port")
    }

    deinit {
        close(stream)
        close(datagrams)
    }

    /// Whether a client has connected or sent anything so far.
    public var wasReached: Bool {
        let connection = accept(stream, nil, nil)
        if connection >= 0 { close(connection) }
        var byte: UInt8 = 0
        return connection >= 0 || recv(datagrams, &byte, 1, 0) >= 0
    }

    private static func bind(_ descriptor: Int32, to port: UInt16) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        return status == 0 ? UInt16(bigEndian: address.sin_port) : nil
    }
}
