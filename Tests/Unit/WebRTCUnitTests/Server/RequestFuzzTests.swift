import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// No request breaks a server, regardless of its content.
struct RequestFuzzTests {
    private static let methods = [
        "GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT", "X-Y",
    ]
    private static let words = [
        "/", "/whep", "/whip", "/watch", "/send", "?name=", "?", "%", "%00", "%zz", "..", "a", "&",
        "application/sdp", "application/trickle-ice-sdpfrag", "Bearer ", "\"", "*", ",", ";",
        "\r\n",
        "v=0\r\n", "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n", "m=audio", "a=mid:", "a=mid:0\r\n",
        "a=ice-ufrag:abcd\r\n", "a=ice-pwd:", "a=fingerprint:x\r\n", "a=recvonly\r\n", "a=sendonly",
        "a=candidate:1 1 udp 1 10.0.0.1 5000 typ host\r\n", "a=end-of-candidates\r\n", "\u{0}", "é",
        "http://", "[::1]", "127.0.0.1:8080", "localhost", "]", "[", ":", "0", "-1", " ",
    ]
    private static let names = [
        "Content-Type", "Authorization", "If-Match", "Origin", "Accept", "Content-Length",
    ]

    @Test(arguments: 1...4) func everyRequestIsAnswered(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let served = ServedTest {
            $0.maximumViewers = 5
            $0.maximumSenders = 5
            if seed % 2 == 0 { $0.token = "secret" }
        }
        let held = try await served.join()
        var statuses: Set<Int> = []
        var locations: [String] = []
        for _ in 0..<1500 {
            let request = Self.request(&random, locations, token: seed % 2 == 0)
            let reply = await served.send(
                request.method, request.path, request.fields, host: request.host,
                body: request.body)
            statuses.insert(reply.status)
            if let location = reply["Location"] { locations.append(location) }
            #expect((200..<600).contains(reply.status))
            if reply.status >= 400, request.method != "HEAD" { #expect(reply.body.hasSuffix("\n")) }
        }
        // The requests reach sessions, and are not all refused early.
        #expect(statuses.isSuperset(of: [201, 204, 400, 404, 405, 415]), "\(statuses.sorted())")
        await held.membership.leave()
        #expect(served.peers.all.value.allSatisfy { $0.state.value.isClosed })
    }

    private struct Request {
        var method: String
        var path: String
        var fields: [String: String] = [:]
        var host: String?
        var body: [UInt8]
    }

    private static func request(
        _ random: inout SeededGenerator, _ locations: [String], token: Bool
    ) -> Request {
        func text(_ most: Int, _ random: inout SeededGenerator) -> String {
            (0..<Int.random(in: 0...most, using: &random)).map { _ in
                words.randomElement(using: &random) ?? ""
            }.joined()
        }
        let offers = Bool.random(using: &random)
        var request = Request(
            method: methods.randomElement(using: &random) ?? "GET",
            path: ["/whep", "/whip", "/"].randomElement(using: &random) ?? "/",
            host: "127.0.0.1:8080", body: Array(text(12, &random).utf8))
        if offers {
            request.method = "POST"
            request.fields["Content-Type"] = "application/sdp"
            let direction = ["recvonly", "sendonly"].randomElement(using: &random) ?? ""
            request.body = Array(Offers.offer(direction: direction).utf8)
        } else if let location = locations.randomElement(using: &random),
            Bool.random(using: &random)
        {
            request.path = location
            request.method = ["PATCH", "DELETE", "PATCH"].randomElement(using: &random) ?? ""
            request.fields["Content-Type"] = "application/trickle-ice-sdpfrag"
        }
        if token { request.fields["Authorization"] = "Bearer secret" }
        // Then corrupts a part of it.
        switch Int.random(in: 0..<8, using: &random) {
        case 0: request.path += text(4, &random)
        case 1: request.path = text(4, &random)
        case 2: request.host = text(3, &random)
        case 3: request.fields[names.randomElement(using: &random) ?? ""] = text(4, &random)
        case 4:
            for _ in 0..<Int.random(in: 1...20, using: &random) where !request.body.isEmpty {
                let place = Int.random(in: 0..<request.body.count, using: &random)
                request.body[place] = UInt8.random(in: 0...255, using: &random)
            }
        case 5: request.body.removeLast(Int.random(in: 0...request.body.count, using: &random))
        default: break
        }
        // Field values have no line breaks: the request type would reject them.
        request.fields = request.fields.mapValues { $0.filter { !$0.isNewline && $0 != "\0" } }
        return request
    }
}
