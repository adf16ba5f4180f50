/// Where a Janus server listens: `ws://HOST:PORT/PATH` or `wss://…`.
struct ServerAddress: Hashable, Sendable {
    let isSecure: Bool
    /// A name or an address, without the brackets of IPv6.
    let host: String
    let port: Int
    /// With its leading slash, and the query if there is one.
    let path: String

    /// - Returns: `nil` for a text that is no such address.
    init?(_ text: String) {
        guard let separator = text.firstRange(of: "://") else { return nil }
        switch text[..<separator.lowerBound].lowercased() {
        case "ws": isSecure = false
        case "wss": isSecure = true
        default: return nil
        }
        let rest = text[separator.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@"),
            !text.unicodeScalars.contains(where: { $0.value <= 32 || $0.value >= 127 })
        else { return nil }
        let tail = rest[end...].prefix { $0 != "#" }
        path = tail.isEmpty ? "/" : tail.first == "/" ? String(tail) : "/" + tail
        let (name, number): (Substring, Substring?)
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            name = authority[authority.index(after: authority.startIndex)..<close]
            let behind = authority[authority.index(after: close)...]
            guard behind.isEmpty || behind.first == ":" else { return nil }
            number = behind.isEmpty ? nil : behind.dropFirst()
        } else {
            let parts = authority.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            name = parts[0]
            number = parts.count > 1 ? parts[1] : nil
        }
        guard !name.isEmpty else { return nil }
        host = String(name)
        guard let number else {
            port = isSecure ? 443 : 80
            return
        }
        guard let port = Int(number), (1...65535).contains(port), number.first != "+" else {
            return nil
        }
        self.port = port
    }

    /// Host and port, as in the header `Host`.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}
