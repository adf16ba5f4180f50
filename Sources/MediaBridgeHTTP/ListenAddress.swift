internal import Glibc

/// The address that a server listens on: `HOST:PORT`, `[IPV6]:PORT`, `:PORT` for all addresses of
/// the machine, `unix:PATH`. Port 0 selects a free port.
package enum ListenAddress: Equatable, Sendable {
    /// An IP address and a port; without an address, all addresses of the machine.
    case network(String?, port: UInt16)
    /// The path of a Unix socket.
    case unix(String)

    package static let standard = ListenAddress.network("127.0.0.1", port: 8080)

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
            self = .network(nil, port: port)
        } else if host.hasPrefix("["), host.hasSuffix("]") {
            let address = String(host.dropFirst().dropLast())
            guard let bytes = Self.bytes(of: address, AF_INET6) else { return nil }
            self = .network(bytes.allSatisfy { $0 == 0 } ? nil : address, port: port)
        } else {
            let address = host == "localhost" ? "127.0.0.1" : String(host)
            guard Self.bytes(of: address, AF_INET) != nil else { return nil }
            self = .network(address, port: port)
        }
    }

    /// Whether only users of this machine can reach the address.
    package var isLocal: Bool {
        switch self {
        case .network(let address?, _): address.hasPrefix("127.") || address == "::1"
        case .network(nil, _): false
        case .unix: true
        }
    }

    /// The hosts under which the address is reached, as in a URL; none for a Unix socket.
    package var hosts: [String] {
        switch self {
        case .network("0.0.0.0", _):
            LocalAddresses.list().filter { !$0.hasPrefix("[") } + ["127.0.0.1"]
        case .network(let address?, _): [Self.host(address)]
        case .network(nil, _): LocalAddresses.list() + ["127.0.0.1"]
        case .unix: []
        }
    }

    /// Returns the same address with another port. A Unix socket is returned unchanged.
    package func with(port: UInt16) -> ListenAddress {
        if case .network(let address, _) = self { .network(address, port: port) } else { self }
    }

    private static func host(_ address: String) -> String {
        address.contains(":") ? "[\(address)]" : address
    }

    private static func bytes(of address: String, _ family: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<in6_addr>.size)
        return inet_pton(family, address, &bytes) == 1 ? bytes : nil
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .network(let address, let port): "\(address.map(Self.host) ?? ""):\(port)"
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
