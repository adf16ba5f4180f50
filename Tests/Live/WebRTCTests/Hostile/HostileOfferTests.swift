import Foundation
import MediaBridgeWebRTC
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// No offer breaks `gst-bridge share` or `receive`: mutated browser offers are posted over HTTP.
@Suite(.hangGuard, .serialized) struct HostileOfferTests {
    private struct Case: CustomTestStringConvertible {
        let name: String
        let arguments: [String]
        let offers: [[String]]
        let path: String
        let seed: UInt64
        var testDescription: String { "\(name), seed \(seed)" }
    }
    private static let capture =
        "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=15/1 ! "
        + "appsink name=video audiotestsrc is-live=true ! audioconvert ! appsink name=audio"
    private static let cases = [
        Case(
            name: "share h264",
            arguments: ["share", "--capture", capture, "--codec", "h264"],
            offers: ForeignOffers.viewers, path: "/whep", seed: 1),
        Case(
            name: "share vp8", arguments: ["share", "--capture", capture, "--codec", "vp8"],
            offers: ForeignOffers.viewers, path: "/whep", seed: 2),
        Case(
            name: "receive", arguments: ["receive", "--output", "fakevideosink"],
            offers: ForeignOffers.senders, path: "/whip", seed: 3),
    ]
    private static let count = 40

    @Test(arguments: cases) private func everyOfferIsAnsweredOrRefused(_ one: Case) async throws {
        let environment = ["DISPLAY": "", "G_DEBUG": "fatal-criticals"]
        try await withChildProcess(
            Tool.gstBridge, one.arguments + ["--listen", "127.0.0.1:0"], environment: environment
        ) { process in
            try await process.waitForErrors(to: "print an address") { $0.contains("http://") }
            let words = process.errors.split(whereSeparator: \.isWhitespace)
            let origin = try #require(words.first { $0.hasPrefix("http://") })
            let server = HostileClient(origin: origin.dropLast(), path: one.path)
            for offer in one.offers {
                #expect(try await server.post(Self.bytes(offer)).status == 201)
            }
            var mutator = OfferMutator(seed: one.seed)
            var statuses: [Int: Int] = [:]
            for number in 0..<Self.count {
                let offer = mutator.broken(one.offers)
                do {
                    let reply = try await server.post(offer)
                    statuses[reply.status, default: 0] += 1
                    let isExpected = reply.status == 201 || (400..<500).contains(reply.status)
                    #expect(
                        isExpected,
                        "\(reply) to offer \(number) of \(one):\n\(String(decoding: offer, as: UTF8.self))"
                    )
                } catch {
                    Issue.record(
                        "\(error) at offer \(number) of \(one):\n\(String(decoding: offer, as: UTF8.self))\n\(process.errors)"
                    )
                    return
                }
            }
            // Some offers pass the first checks, and some are rejected.
            #expect(statuses[201] ?? 0 > 5, "\(statuses)")
            #expect(statuses[400] ?? 0 > 5, "\(statuses)")
            for offer in one.offers {
                #expect(try await server.post(Self.bytes(offer)).status == 201)
            }
            process.send(signal: SIGINT)
            let result = try await process.end()
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    private static func bytes(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }
}

/// A client that posts offers and ends each session at once.
private struct HostileClient {
    let origin: Substring
    let path: String

    struct Reply {
        let status: Int
        let text: String
    }

    func post(_ offer: [UInt8]) async throws -> Reply {
        let (reply, location) = try await send("POST", path, offer)
        if let location {
            let (end, _) = try await send("DELETE", location)
            #expect(end.status == 200)
        }
        return reply
    }

    private func send(
        _ method: String, _ path: String, _ body: [UInt8] = []
    ) async throws -> (Reply, location: String?) {
        var request = URLRequest(
            url: try #require(URL(string: origin + path)), timeoutInterval: 300)
        request.httpMethod = method
        if method == "POST" {
            request.setValue("application/sdp", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body)
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        let answer = try #require(response as? HTTPURLResponse)
        return (
            Reply(status: answer.statusCode, text: String(decoding: data, as: UTF8.self)),
            answer.value(forHTTPHeaderField: "Location")
        )
    }
}
