/// The parts of an offer that the server checks before it makes a connection.
struct OfferOutline {
    /// The value of `a=ice-ufrag`.
    let userFragment: String

    /// The maximum number of m-lines in an offer.
    private static let maximumMedia = 32

    private struct Media {
        let isOfInterest: Bool
        var direction: String?
    }

    /// - Parameters:
    ///   - offer: The body of the request.
    ///   - kind: The kind of session that the peer requests.
    init(_ offer: String, _ kind: PeerSession.Kind) throws(RequestRefusal) {
        guard offer.hasPrefix("v=0\r\n") || offer.hasPrefix("v=0\n"), !offer.contains("\0") else {
            throw Self.bad("it does not begin with v=0")
        }
        var sessionDirection = "sendrecv"
        var media: [Media] = []
        var hasFingerprint = false
        for line in offer.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("m=") {
                let name = line.dropFirst(2).prefix { $0 != " " }
                media.append(Media(isOfInterest: name == "video" || name == "audio"))
            } else if line.hasPrefix("a=fingerprint:") {
                hasFingerprint = true
            } else if ["a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive"].contains(line) {
                let direction = String(line.dropFirst(2))
                if media.isEmpty {
                    sessionDirection = direction
                } else {
                    media[media.count - 1].direction = direction
                }
            }
        }
        guard media.contains(where: \.isOfInterest) else {
            throw Self.bad("it has neither video nor audio")
        }
        guard media.count <= Self.maximumMedia else {
            throw Self.bad("it has more than \(Self.maximumMedia) media lines")
        }
        guard let credentials = TrickleFragment.Credentials(of: offer), hasFingerprint else {
            throw Self.bad("it lacks ice-ufrag, ice-pwd or fingerprint")
        }
        userFragment = credentials.userFragment
        let wanted = kind == .viewer ? ["recvonly", "sendrecv"] : ["sendonly", "sendrecv"]
        guard
            media.contains(where: {
                $0.isOfInterest && wanted.contains($0.direction ?? sessionDirection)
            })
        else {
            throw RequestRefusal(
                .notAcceptable,
                kind == .viewer
                    ? "the offer receives nothing; senders use /whip"
                    : "the offer sends nothing; viewers use /whep")
        }
    }

    private static func bad(_ what: String) -> RequestRefusal {
        RequestRefusal(.badRequest, "invalid SDP offer: \(what)")
    }
}
