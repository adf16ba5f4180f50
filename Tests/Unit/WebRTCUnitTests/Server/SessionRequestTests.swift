import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// The responses to requests for a session.
struct SessionRequestTests {
    private static let candidate = "a=candidate:1 1 udp 2130706431 10.0.0.1 5000 typ host"
    private static let trickle = ["Content-Type": "application/trickle-ice-sdpfrag"]

    @Test func offerCreatesASession() async throws {
        let served = ServedTest {
            $0.connection.iceServers = ["stun://s.example", "turn://u:p@t.example?transport=udp"]
        }
        let held = try await served.join(audio: true)
        let reply = await served.post("/whep")
        #expect(reply.status == 201)
        #expect(reply.body == Offers.answer)
        #expect(reply["Content-Type"] == "application/sdp")
        let location = try #require(reply["Location"])
        #expect(location.wholeMatch(of: /\/whep\/[0-9a-f]{32}/) != nil)
        #expect(reply["ETag"]?.wholeMatch(of: /"[0-9a-f]{12}"/) != nil)
        #expect(reply["Accept-Patch"] == "application/trickle-ice-sdpfrag")
        let links = reply.fields.filter { $0.name.canonicalName == "link" }.map(\.value)
        #expect(links.count == 2)
        let peer = try #require(served.peers.latest)
        #expect(peer.role == .sender)
        #expect(peer.media.video == [.vp8])
        #expect(peer.media.audio == [.opus])
        #expect(peer.state.value.offer == Offers.offer())
        await held.membership.leave()
    }

    @Test func candidatesReachTheConnection() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let reply = await served.post("/whep")
        let (location, tag) = (try #require(reply["Location"]), try #require(reply["ETag"]))
        let body =
            "a=ice-ufrag:abcd\r\na=ice-pwd:x\r\nm=audio 9 x 0\r\na=mid:1\r\n\(Self.candidate)\r\n"
        for (tags, status) in [
            (tag, 204), ("*", 204), ("\"other\", \(tag)", 204), ("\"other\"", 412), ("", 412),
        ] {
            let fields = Self.trickle.merging(["If-Match": tags]) { $1 }
            #expect(await served.send("PATCH", location, fields, body).status == status, "\(tags)")
        }
        #expect(await served.send("PATCH", location, Self.trickle, body).status == 204)
        let candidates = try #require(served.peers.latest).state.value.candidates
        #expect(candidates.map(\.mid) == ["1", "1", "1", "1"])
        #expect(await served.send("PATCH", location, [:], body).status == 415)
        #expect(await served.send("PATCH", location, Self.trickle, "hello").status == 400)
        #expect(
            await served.send("PATCH", location, Self.trickle, body: [0xff, 0xfe]).status == 400)
        let restart = body.replacing("abcd", with: "efgh")
        #expect(await served.send("PATCH", location, Self.trickle, restart).status == 422)
        await held.membership.leave()
    }

    @Test func candidatesAreBounded() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let location = try #require(await served.post("/whep")["Location"])
        let body = String(repeating: Self.candidate + "\r\n", count: 64)
        for _ in 0..<6 {
            #expect(await served.send("PATCH", location, Self.trickle, body).status == 204)
        }
        #expect(served.peers.latest?.state.value.candidates.count == 256)
        await held.membership.leave()
    }

    @Test func deletingEndsASession() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let location = try #require(await served.post("/whep")["Location"])
        let other = location.replacing("/whep/", with: "/whip/")
        #expect(await served.send("DELETE", other).status == 404)
        #expect(await served.send("OPTIONS", location)["Allow"] == "PATCH, DELETE, OPTIONS")
        #expect(await served.send("DELETE", location).status == 200)
        #expect(served.peers.latest?.state.value.isClosed == true)
        #expect(await served.send("DELETE", location).status == 404)
        #expect(await served.send("OPTIONS", location).status == 404)
        #expect(await served.send("PATCH", location, Self.trickle, Self.candidate).status == 404)
        await held.membership.leave()
    }

    @Test func failedConnectionEndsItsSession() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let location = try #require(await served.post("/whep")["Location"])
        let peer = try #require(served.peers.latest)
        peer.observer?.stateChanged(.failed(PipelineError(.unreachable, message: "gone")))
        await peer.state.wait { $0.isClosed }
        #expect(await served.send("DELETE", location).status == 404)
        await held.membership.leave()
    }

    @Test func viewersAndSendersAreLimited() async throws {
        let served = ServedTest {
            $0.maximumViewers = 2
            $0.maximumSenders = 1
        }
        let held = try await served.join()
        let first = await served.post("/whep")
        #expect(await served.post("/whep").status == 201)
        let full = await served.post("/whep")
        #expect(full.status == 503)
        #expect(full["Retry-After"] != nil)
        #expect(await served.post("/whip").status == 201)
        #expect(await served.post("/whip").status == 503)
        #expect(await served.send("DELETE", first["Location"]).status == 200)
        #expect(await served.post("/whep").status == 201)
        await held.membership.leave()
    }

    @Test func connectingSessionsAreLimited() async throws {
        let served = ServedTest { $0.maximumConnecting = 1 }
        let held = try await served.join()
        #expect(await served.post("/whep").status == 201)
        #expect(await served.post("/whep").status == 429)
        served.peers.latest?.connect()
        #expect(await served.post("/whep").status == 201)
        await held.membership.leave()
    }

    @Test func sessionNamesAreUnique() async throws {
        let served = ServedTest()
        let held = try await served.join()
        #expect(await served.post("/whip?name=J%C3%B6rg+B").status == 201)
        #expect(await served.post("/whip?name=J%C3%B6rg%20B").status == 409)
        #expect(await served.post("/whip?name=host").status == 409)
        served.peers.all.value[0].connect()
        await served.listener.waitFor("joined Jörg B")
        await held.membership.leave()
    }

    @Test func iceServersAreSentOnlyToAuthorizedClients() async {
        let served = ServedTest {
            $0.token = "secret"
            $0.peerICEServers = ["turn://u:p@t.example"]
        }
        #expect(await served.send("OPTIONS", "/whep")["Link"] == nil)
        let reported = await served.send("OPTIONS", "/whep", ["Authorization": "Bearer secret"])
        #expect(reported["Link"]?.contains("turn:t.example") == true)
        #expect(reported["Accept-Post"] == "application/sdp")
    }

    @Test func thePagesAreServed() async {
        let served = ServedTest {
            $0.title = "<a> & \"b\""
            $0.path = "/live"
        }
        for path in ["/live/", "/live/watch", "/live/send"] {
            let reply = await served.send("GET", path)
            #expect(reply.status == 200)
            #expect(reply["Content-Type"] == "text/html; charset=utf-8")
            #expect(reply["Content-Security-Policy"]?.contains("default-src 'none'") == true)
            #expect(reply.body.contains("<title>&lt;a&gt; &amp; &quot;b&quot;</title>"))
            let head = await served.send("HEAD", path)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
        }
        #expect(await served.send("GET", "/").status == 404)
    }

    @Test func serverMayAcceptOnlyViewersOrOnlySenders() async {
        let viewers = ServedTest { $0.takesSenders = false }
        #expect(await viewers.send("OPTIONS", "/whip").status == 404)
        #expect(await viewers.send("GET", "/send").status == 404)
        let senders = ServedTest { $0.takesViewers = false }
        #expect(await senders.send("OPTIONS", "/whep").status == 404)
        #expect(await senders.send("GET", "/").body.contains("getUserMedia"))
    }
}
