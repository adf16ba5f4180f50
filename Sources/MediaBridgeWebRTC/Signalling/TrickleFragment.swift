internal import MediaBridge

/// Trickled ICE candidates for a peer: `application/trickle-ice-sdpfrag` (RFC 8840).
package struct TrickleFragment: Sendable {
    /// The ICE user fragment (`a=ice-ufrag`) of the candidates; `nil` if the fragment contains none.
    package private(set) var userFragment: String?
    /// The candidates.
    package private(set) var candidates: [PeerConnection.Candidate] = []

    /// The maximum number of candidates in a fragment, and the maximum length of a candidate in
    /// bytes.
    private static let (maximumCount, maximumLength) = (64, 512)

    /// Parses a fragment. The m-line of a candidate is taken only from `a=mid`: the `m=` lines of
    /// clients are not reliable.
    ///
    /// - Throws: `PipelineError.Code.badDescription`.
    package init(parsing text: String) throws(PipelineError) {
        var (isLast, mid): (Bool, String?) = (false, nil)
        for line in text.split(whereSeparator: \.isNewline) {
            let bytes = line.utf8
            guard bytes.count >= 2, bytes.dropFirst().first == UInt8(ascii: "=") else {
                throw Self.bad("a line is not TYPE=VALUE")
            }
            if line.hasPrefix("m=") {
                mid = nil
            } else if userFragment == nil, let fragment = line.value(of: "a=ice-ufrag:") {
                userFragment = fragment
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
        guard userFragment != nil || !candidates.isEmpty || isLast else {
            throw Self.bad("it is empty")
        }
    }

    private static func bad(_ what: String) -> PipelineError {
        PipelineError(.badDescription, message: "invalid candidate fragment: \(what)")
    }
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
