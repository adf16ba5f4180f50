import TestSupport
import Testing

/// The access rights at a server with a token: each request without a token, with a wrong one, and
/// with the right one.
struct AccessTableTests {
    enum Place: String, CaseIterable {
        case viewerPage, senderPage, whep, whip, viewerSession, senderSession, wrongKind, noSession

        /// The status of each method with the token; all other methods get 405.
        var granted: [String: Int] {
            switch self {
            case .viewerPage, .senderPage: ["GET": 200, "HEAD": 200, "OPTIONS": 204]
            case .whep, .whip: ["POST": 201, "OPTIONS": 204]
            case .viewerSession, .senderSession: ["PATCH": 204, "DELETE": 200, "OPTIONS": 204]
            case .wrongKind, .noSession: ["PATCH": 404, "DELETE": 404, "OPTIONS": 404]
            }
        }

        /// Whether only senders (`true`) or only viewers (`false`) use it; `nil` for both.
        var isForSenders: Bool? {
            switch self {
            case .viewerPage, .whep, .viewerSession: false
            case .senderPage, .whip, .senderSession: true
            case .wrongKind, .noSession: nil
            }
        }
    }
    private static let methods = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
    ]
    /// The methods that are allowed without the token.
    private static let open = ["GET", "HEAD", "OPTIONS"]
    private static let token = "Bearer secret"

    private func body(of method: String, at place: Place) -> String {
        switch method {
        case "POST": Offers.offer(direction: place.isForSenders == true ? "sendonly" : "recvonly")
        case "PATCH": "a=candidate:1 1 udp 2130706431 10.0.0.1 5000 typ host\r\n"
        default: ""
        }
    }

    @Test(arguments: Place.allCases)
    func onlyTheTokenGrantsAccess(place: Place) async throws {
        for method in Self.methods {
            for authorization in [nil, "Bearer other", Self.token] {
                let served = ServedTest { $0.token = "secret" }
                let held = try await served.join()
                let viewer = try #require(
                    await served.post("/whep", ["Authorization": Self.token])["Location"])
                let sender = try #require(
                    await served.post("/whip", ["Authorization": Self.token])["Location"])
                let path =
                    switch place {
                    case .viewerPage: "/"
                    case .senderPage: "/send"
                    case .whep: "/whep"
                    case .whip: "/whip"
                    case .viewerSession: viewer
                    case .senderSession: sender
                    case .wrongKind: viewer.replacing("/whep/", with: "/whip/")
                    case .noSession: "/whep/0123"
                    }
                var fields = ["Content-Type": "application/sdp"]
                if method == "PATCH" { fields["Content-Type"] = "application/trickle-ice-sdpfrag" }
                fields["Authorization"] = authorization
                let reply = await served.send(
                    method, path, fields, self.body(of: method, at: place))
                let isGranted = authorization == Self.token || Self.open.contains(method)
                let wanted = place.granted[method].map { isGranted ? $0 : 401 } ?? 405
                #expect(
                    reply.status == wanted,
                    "\(method) \(place) \(authorization ?? "without"): \(reply.body)")
                if !isGranted {
                    // The request had no effect.
                    #expect(served.peers.all.value.count == 2)
                    for location in [viewer, sender] {
                        #expect(await served.send("OPTIONS", location).status == 204)
                    }
                    #expect(served.peers.all.value.allSatisfy { $0.state.value.candidates.isEmpty })
                }
                await held.membership.leave()
            }
        }
    }

    /// `share` has no endpoints for senders, and `receive` has none for viewers.
    @Test(arguments: [false, true])
    func otherRoleHasNoEndpoint(takesSenders: Bool) async {
        let served = ServedTest {
            $0.token = "secret"
            $0.takesSenders = takesSenders
            $0.takesViewers = !takesSenders
        }
        let paths = takesSenders ? ["/watch", "/whep", "/whep/0"] : ["/send", "/whip", "/whip/0"]
        for path in paths {
            for method in Self.methods {
                for fields in [[:], ["Authorization": Self.token]] {
                    let reply = await served.send(method, path, fields, Offers.offer())
                    #expect(reply.status == 404, "\(method) \(path)")
                }
            }
        }
    }
}
