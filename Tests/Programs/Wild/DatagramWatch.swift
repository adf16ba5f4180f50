import Foundation
import Synchronization
import TestSupport

/// A port that counts the datagrams sent to it.
final class DatagramWatch: Sendable {
    struct Count: Sendable {
        var datagrams = 0
        /// Distinct RTP timestamps: one for each frame, or block of audio.
        var times: Set<UInt32> = []
    }

    let port: Int
    private let descriptor: Int32
    private let count = Mutex(Count())

    init() throws {
        port = try FreePort.udp()
        // udpsink may resolve localhost to ::1: the socket accepts both.
        descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
        var (room, no): (Int32, Int32) = (32 << 20, 0)
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &no, size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &room, size)
        guard Self.with(port, { bind(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            throw WildError("port \(port) is taken")
        }
        Thread.detachNewThread { [self] in read() }
    }

    /// Counts the received datagrams, and stops.
    func end() -> Count {
        // The thread reads all datagrams before this wake-up.
        Self.with(port) { _ = sendto(descriptor, "", 0, 0, $0, $1) }
        ended.wait()
        return count.withLock { $0 }
    }

    private let ended = DispatchSemaphore(value: 0)

    /// Calls `body` with the address of a local port, for IPv4 and IPv6.
    private static func with<R>(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(port).bigEndian
        address.sin6_addr = in6addr_any
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let length = recv(descriptor, &buffer, buffer.count, 0)
            if length <= 0 { break }
            count.withLock {
                $0.datagrams += 1
                guard length >= 8 else { return }
                $0.times.insert(buffer[4..<8].reduce(0) { $0 << 8 | UInt32($1) })
            }
        }
        close(descriptor)
        ended.signal()
    }
}
