internal import Glibc

/// The address that a server listens on: `HOST:PORT`, `[IPV6]:PORT`, `:PORT` for all addresses of
/// the machine, `unix:PATH`. Port 0 selects a free port.
package enum ListenAddress: Equatable, Sendable {
    case ip4(String, port: UInt16)
    case ip6(String, port: UInt16)
    case all(port: UInt16)
    case unix(String)

    package static let standard = ListenAddress.ip4("127.0.0.1", port: 8080)

    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            // The kernel's limit for the path of a socket.
            guard (1..<108).contains(path.utf8.count) else { return nil }
            self = .unix(path)
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        let host = text[..<colon]
        if host.isEmpty || host == "*" {
            self = .all(port: port)
        } else if host.hasPrefix("["), host.hasSuffix("]") {
            let address = String(host.dropFirst().dropLast())
            guard Self.isAddress(address, AF_INET6) else { return nil }
            self = Self.isAny(address) ? .all(port: port) : .ip6(address, port: port)
        } else {
            let address = host == "localhost" ? "127.0.0.1" : String(host)
            guard Self.isAddress(address, AF_INET) else { return nil }
            self = .ip4(address, port: port)
        }
    }

    /// Whether only users of this machine can reach the address.
    package var isLocal: Bool {
        switch self {
        case .ip4(let address, _): address.hasPrefix("127.")
        case .ip6(let address, _): address == "::1"
        case .all: false
        case .unix: true
        }
    }

    /// The hosts under which the address is reached, as in a URL; none for a Unix socket.
    package var hosts: [String] {
        switch self {
        case .ip4("0.0.0.0", _):
            LocalAddresses.list().filter { !$0.hasPrefix("[") } + ["127.0.0.1"]
        case .ip4(let host, _): [host]
        case .ip6(let host, _): ["[\(host)]"]
        case .all: LocalAddresses.list() + ["127.0.0.1"]
        case .unix: []
        }
    }

    /// Returns the same host with another port. A Unix socket address is returned unchanged.
    package func with(port: UInt16) -> ListenAddress {
        switch self {
        case .ip4(let host, _): .ip4(host, port: port)
        case .ip6(let host, _): .ip6(host, port: port)
        case .all: .all(port: port)
        case .unix: self
        }
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        var bytes = in6_addr()
        return inet_pton(family, text, &bytes) == 1
    }

    private static func isAny(_ text: String) -> Bool {
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return false }
        return withUnsafeBytes(of: bytes) { $0.allSatisfy { $0 == 0 } }
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ip4(let address, let port): "\(address):\(port)"
        case .ip6(let address, let port): "[\(address)]:\(port)"
        case .all(let port): ":\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// The network addresses of this machine, except loopback and link-local addresses.
package enum LocalAddresses {
    package static func list() -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var (ip4, ip6): ([String], [String]) = ([], [])
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let address = entry.ifa_addr, entry.ifa_flags & UInt32(IFF_UP) != 0,
                entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            else { continue }
            let family = Int32(address.pointee.sa_family)
            let size =
                family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            guard family == AF_INET || family == AF_INET6 else { continue }
            var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard
                getnameinfo(
                    address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
                    == 0
            else { continue }
            let text = String(
                decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if family == AF_INET {
                ip4.append(text)
            } else if !text.lowercased().hasPrefix("fe80"), !text.contains("%") {
                ip6.append("[\(text)]")
            }
        }
        return ip4 + ip6
    }
}
