/// Trickled ICE candidates for a peer: `application/trickle-ice-sdpfrag` (RFC 8840).
package struct TrickleFragment: Equatable, Sendable {
    /// The ICE credentials that candidates belong to.
    package struct Credentials: Hashable, Sendable {
        /// The value of `a=ice-ufrag`.
        package var userFragment: String
        /// The value of `a=ice-pwd`.
        package var password: String

        /// Reads the first credentials of a session description or a fragment.
        package init?(of description: String) {
            var (user, password): (String?, String?)
            for line in description.split(whereSeparator: \.isNewline) {
                if user == nil { user = line.value(of: "a=ice-ufrag:") }
                if password == nil { password = line.value(of: "a=ice-pwd:") }
            }
            guard let user, let password else { return nil }
            (userFragment, self.password) = (user, password)
        }
    }

    /// The credentials of the candidates; `nil` if the fragment contains none.
    package var credentials: Credentials?
    /// The candidates.
    package var candidates: [PeerConnection.Candidate]
    /// Whether no more candidates follow.
    package var isLast: Bool

    /// The maximum number of candidates in a fragment, and the maximum length of a candidate in
    /// bytes.
    private static let (maximumCount, maximumLength) = (64, 512)

    /// Creates a fragment.
    package init(
        credentials: Credentials?, candidates: [PeerConnection.Candidate], isLast: Bool
    ) {
        self.credentials = credentials
        self.candidates = candidates
        self.isLast = isLast
    }

    /// Parses a fragment. The m-line of a candidate is taken only from `a=mid`: the `m=` lines of
    /// clients are not reliable.
    ///
    /// - Throws: ``PeerError/Code/badDescription``.
    package init(parsing text: String) throws(PeerError) {
        (candidates, isLast) = ([], false)
        credentials = Credentials(of: text)
        var mid: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let bytes = line.utf8
            guard bytes.count >= 2, bytes.dropFirst().first == UInt8(ascii: "=") else {
                throw Self.bad("a line is not TYPE=VALUE")
            }
            if line.hasPrefix("m=") {
                mid = nil
            } else if let name = line.value(of: "a=mid:") {
                mid = name
            } else if line.hasPrefix("a=candidate:") {
                guard bytes.count <= Self.maximumLength,
                    bytes.allSatisfy({ (0x20...0x7e).contains($0) }),
                    line.split(separator: " ").count >= 8
                else { throw Self.bad("a candidate is malformed") }
                guard candidates.count < Self.maximumCount else {
                    throw Self.bad("it has more than \(Self.maximumCount) candidates")
                }
                candidates.append(PeerConnection.Candidate(String(line.dropFirst(2)), mid: mid))
            } else if line == "a=end-of-candidates" {
                isLast = true
            }
        }
        guard credentials != nil || !candidates.isEmpty || isLast else {
            throw Self.bad("it is empty")
        }
    }

    private static func bad(_ what: String) -> PeerError {
        PeerError(.badDescription, message: "invalid candidate fragment: \(what)")
    }

    /// The fragment as text. Candidates without the `mid` of an m-line belong to the first one.
    package var text: String {
        var lines: [String] = []
        if let credentials {
            lines.append("a=ice-ufrag:\(credentials.userFragment)")
            lines.append("a=ice-pwd:\(credentials.password)")
        }
        var mids: [String] = []
        for candidate in candidates where !mids.contains(candidate.group) {
            mids.append(candidate.group)
        }
        if mids.isEmpty { mids = ["0"] }
        for mid in mids {
            lines.append("m=audio 9 UDP/TLS/RTP/SAVPF 0")
            lines.append("a=mid:\(mid)")
            for candidate in candidates where candidate.group == mid {
                let text = candidate.text
                lines.append(text.hasPrefix("a=") ? text : "a=\(text)")
            }
            if isLast { lines.append("a=end-of-candidates") }
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}

extension PeerConnection.Candidate {
    fileprivate var group: String { mid ?? "\(line)" }
}

extension Substring {
    /// The value of an attribute: printable ASCII without spaces, up to 256 bytes; otherwise `nil`.
    fileprivate func value(of name: String) -> String? {
        guard hasPrefix(name) else { return nil }
        let value = dropFirst(name.count)
        let bytes = value.utf8
        guard (1...256).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        return String(value)
    }
}
