import HTTPTypes
import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// Which requests a server refuses, and how.
struct RefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int
        let method: String
        let path: String
        var fields: [String: String] = ["Content-Type": "application/sdp"]
        var body = Offers.offer()
        var testDescription: String { "\(method) \(path.prefix(40)) \(status)" }
    }

    @Test(
        arguments: [
            Case(status: 404, method: "GET", path: "/nothing"),
            Case(status: 404, method: "GET", path: "//"),
            Case(status: 404, method: "POST", path: "/whep/"),
            Case(status: 404, method: "DELETE", path: "/whep/0123"),
            Case(status: 404, method: "PATCH", path: "/whip/0123"),
            Case(status: 404, method: "DELETE", path: "/whep/a/b"),
            Case(status: 404, method: "DELETE", path: "/whep/" + String(repeating: "a", count: 99)),
            Case(status: 405, method: "GET", path: "/whep"),
            Case(status: 405, method: "PUT", path: "/whip"),
            Case(status: 405, method: "DELETE", path: "/whip"),
            Case(status: 405, method: "POST", path: "/"),
            Case(status: 405, method: "POST", path: "/whep/0123"),
            Case(status: 405, method: "GET", path: "/whep/0123"),
            Case(status: 405, method: "TRACE", path: "/whep"),
            Case(status: 415, method: "POST", path: "/whep", fields: [:]),
            Case(
                status: 415, method: "POST", path: "/whep", fields: ["Content-Type": "text/plain"]),
            Case(status: 400, method: "POST", path: "/whep", body: ""),
            Case(status: 400, method: "POST", path: "/whep", body: "hello"),
            Case(status: 400, method: "POST", path: "/whep", body: "v=0\r\ns=-\r\n"),
            Case(status: 400, method: "POST", path: "/whep", body: "v=0\r\nm=application 9 x\r\n"),
            Case(
                status: 400, method: "POST", path: "/whep",
                body: "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=ice-ufrag:a\r\na=ice-pwd:b\r\n"),
            Case(
                status: 400, method: "POST", path: "/whep",
                body: Offers.offer(media: Array(repeating: "video", count: 33))),
            Case(status: 400, method: "POST", path: "/whip?name=a%2Fb"),
            Case(
                status: 406, method: "POST", path: "/whep",
                body: Offers.offer(direction: "sendonly")),
            Case(status: 406, method: "POST", path: "/whip"),
            Case(
                status: 406, method: "POST", path: "/whep",
                body: Offers.offer(direction: "inactive")),
            Case(
                status: 413, method: "POST", path: "/whep",
                body: Offers.offer() + String(repeating: "a", count: 256 * 1024)),
            Case(status: 409, method: "POST", path: "/whep"),
        ]) func refusalsHaveTheirStatus(test: Case) async
    {
        let served = ServedTest()
        let body = test.path.hasPrefix("/whip?") ? Offers.offer(direction: "sendonly") : test.body
        let reply = await served.send(test.method, test.path, test.fields, body)
        #expect(reply.status == test.status, "\(reply.body)")
        #expect(reply["Content-Type"] == "text/plain; charset=utf-8")
        #expect(!reply.body.isEmpty && reply.body.hasSuffix("\n"))
        if test.status == 405 { #expect(reply["Allow"]?.contains("OPTIONS") == true) }
        if test.status == 409 { #expect(reply["Retry-After"] == "1") }
        #expect(served.peers.all.value.isEmpty)
    }

    @Test(arguments: [nil, "", "whep", "*", "http://host/whep"])
    func unknownPathIsNotFound(path: String?) async {
        #expect(await ServedTest().send("GET", path).status == 404)
    }

    @Test(
        arguments: [
            nil, "", "Bearer", "Bearer ", "Bearer secre", "Bearer secretsecret", "Basic secret",
            "Bearer  secret", "secret", "Bearer SECRET", "Bearer tercec",
        ]) func aWrongTokenIsRefused(authorization: String?) async throws
    {
        let served = ServedTest { $0.token = "secret" }
        let held = try await served.join()
        var fields: [String: String] = [:]
        fields["Authorization"] = authorization
        for path in ["/whep", "/whip"] {
            let reply = await served.post(path, fields)
            #expect(reply.status == 401)
            #expect(reply["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
        }
        #expect(await served.send("DELETE", "/whep/12", fields).status == 401)
        #expect(served.peers.all.value.isEmpty)
        await held.membership.leave()
    }

    @Test func rightTokenIsAccepted() async throws {
        let served = ServedTest { $0.token = "secret" }
        let held = try await served.join()
        let fields = ["Authorization": "bearer secret"]
        #expect(await served.post("/whep", fields).status == 201)
        #expect(await served.send("DELETE", "/whep/12", fields).status == 404)
        #expect(await served.send("GET", "/").status == 200)
        await held.membership.leave()
    }

    @Test(
        arguments: [
            (PipelineError.Code.badDescription, 400), (.nothingInCommon, 406),
            (.deadlineExceeded, 503), (.missingElement, 500), (.failed, 500),
        ]) func connectionErrorsHaveAnHTTPStatus(code: PipelineError.Code, status: Int) async throws
    {
        let served = ServedTest()
        let held = try await served.join()
        served.peers.fail(with: PipelineError(code, message: "line\nof\u{7}text"))
        for path in ["/whep", "/whip"] {
            let reply = await served.post(path)
            #expect(reply.status == status)
            #expect(!reply.body.contains("\u{7}"))
        }
        #expect(served.peers.all.value.allSatisfy { $0.state.value.isClosed })
        // The slots are free again.
        served.peers.fail(with: nil)
        #expect(await served.post("/whep").status == 201)
        await held.membership.leave()
    }

    @Test(arguments: ["/", "/watch", "/send", "/whep"])
    func headAnswerHasTheLengthOfTheGetAnswer(path: String) async {
        let served = ServedTest()
        let (get, head) = (await served.send("GET", path), await served.send("HEAD", path))
        #expect(head.status == get.status)
        #expect(head.body.isEmpty)
        #expect(head["Content-Length"] == "\(get.body.utf8.count)")
    }

    // MARK: Other pages

    @Test func otherOriginsCannotWatchWithoutAToken() async throws {
        let served = ServedTest()
        let held = try await served.join()
        let foreign = await served.post("/whep", ["Origin": "https://evil.example"])
        #expect(foreign.status == 403)
        #expect(foreign["Access-Control-Allow-Origin"] == nil)
        let own = await served.post("/whep", ["Origin": "http://127.0.0.1:8080"])
        #expect(own.status == 201)
        let preflight = await served.send("OPTIONS", "/whep", ["Origin": "https://evil.example"])
        #expect(preflight["Access-Control-Allow-Origin"] == nil)
        await held.membership.leave()
    }

    @Test(arguments: ["evil.example", "evil.example:8080", "localhost.evil.example", "1.2.3.4.5"])
    func otherHostNamesAreRefusedWithoutAToken(host: String) async {
        #expect(await ServedTest().send("GET", "/", host: host).status == 421)
        let named = ServedTest { $0.allowedHosts = [host.split(separator: ":")[0].description] }
        #expect(await named.send("GET", "/", host: host).status == 200)
        #expect(await ServedTest { $0.token = "t" }.send("GET", "/", host: host).status == 200)
    }

    @Test(arguments: ["localhost:1", "127.0.0.1", "10.1.2.3:80", "[::1]:8080", "a.localhost", nil])
    func addressesAreAcceptedAsHosts(host: String?) async {
        #expect(await ServedTest().send("GET", "/", host: host).status == 200)
    }

    @Test func otherOriginsCanCallWithAToken() async throws {
        let served = ServedTest { $0.token = "secret" }
        let held = try await served.join()
        let preflight = await served.send(
            "OPTIONS", "/whep",
            ["Origin": "https://a.example", "Access-Control-Request-Method": "POST"])
        #expect(preflight.status == 204)
        #expect(preflight["Access-Control-Allow-Origin"] == "*")
        #expect(preflight["Access-Control-Allow-Methods"] == "POST, OPTIONS")
        #expect(preflight["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
        let reply = await served.post(
            "/whep", ["Origin": "https://a.example", "Authorization": "Bearer secret"])
        #expect(reply.status == 201)
        let exposed = reply["Access-Control-Expose-Headers"] ?? ""
        for name in ["Location", "ETag", "Link"] { #expect(exposed.contains(name)) }
        await held.membership.leave()
    }

    @Test func onlyAllowedOriginsCanCall() async {
        let served = ServedTest {
            $0.token = "secret"
            $0.allowedOrigins = ["https://a.example"]
        }
        let good = await served.send("OPTIONS", "/whep", ["Origin": "https://a.example"])
        #expect(good["Access-Control-Allow-Origin"] == "https://a.example")
        #expect(good["Vary"] == "Origin")
        let bad = await served.post(
            "/whep", ["Origin": "https://b.example", "Authorization": "Bearer secret"])
        #expect(bad.status == 403)
    }
}
