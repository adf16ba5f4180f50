import Foundation

/// A connection on which a test can write data that no HTTP library would write.
///
/// Thread: one at a time; calls block.
public final class RawConnection: @unchecked Sendable {
    public struct Unreachable: Error {}
    private let descriptor: Int32

    /// Connects to 127.0.0.1.
    public init(to port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Unreachable() }
    }

    deinit { close(descriptor) }

    /// Writes bytes.
    ///
    /// - Returns: False if the other side has closed.
    @discardableResult
    public func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Writes the text repeatedly, until the other side closes or accepts no data for one second.
    public func flood(with text: String, atMost limit: Int) {
        var patience = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var count = 0
        while count < limit, write(text) { count += text.utf8.count }
    }

    /// Closes the writing half.
    public func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns the next received data, up to 64 KiB; empty if the other side has closed.
    public func read() -> String {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        return String(decoding: chunk.prefix(max(0, count)), as: UTF8.self)
    }

    /// Returns all data until the other side closes.
    public func readToEnd() -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}
