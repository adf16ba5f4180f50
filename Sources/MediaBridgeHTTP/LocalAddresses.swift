internal import Glibc

/// The addresses of this machine's networks, without those of the loopback and of single links.
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
