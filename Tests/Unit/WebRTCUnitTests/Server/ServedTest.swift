import HTTPTypes
import MediaBridge
import MediaBridgeWebRTC
import TestSupport

/// A server with fake peers on virtual time, and requests for it.
struct ServedTest {
    let peers = FakePeers()
    let server: WebRTCServer
    let listener = Listener()
    let timeline = VirtualTimeline()

    init(_ change: (inout WebRTCServer.Configuration) -> Void = { _ in }) {
        var configuration = WebRTCServer.Configuration()
        change(&configuration)
        server = WebRTCServer(configuration, timeline: timeline, makePeer: peers.make)
    }

    struct Reply: Sendable {
        let status: Int
        let fields: HTTPFields
        let body: String

        subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
    }

    func send(
        _ method: String, _ path: String?, _ fields: [String: String] = [:],
        host: String? = "127.0.0.1:8080", body: [UInt8]
    ) async -> Reply {
        var request = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "http", authority: host, path: path)
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { continue }
            request.headerFields[name] = value
        }
        let (response, bytes) = await server.respond(to: request, body: body)
        return Reply(
            status: response.status.code, fields: response.headerFields,
            body: String(decoding: bytes, as: UTF8.self))
    }

    func send(
        _ method: String, _ path: String?, _ fields: [String: String] = [:],
        host: String? = "127.0.0.1:8080", _ body: String = ""
    ) async -> Reply { await send(method, path, fields, host: host, body: Array(body.utf8)) }

    func post(
        _ path: String, _ fields: [String: String] = [:], _ offer: String? = nil
    ) async -> Reply {
        let direction = path.hasPrefix("/whep") ? "recvonly" : "sendonly"
        return await send(
            "POST", path, fields.merging(["Content-Type": "application/sdp"]) { $1 },
            offer ?? Offers.offer(direction: direction))
    }

    /// Joins with an engine that publishes video, and optionally audio.
    func join(
        audio: Bool = false, firstUnit: EncodedVideoFrame? = Units.key(0)
    ) async throws -> (membership: any ChannelMembership, video: any ChannelPublication) {
        let membership = try await server.join(
            ChannelRequest(channel: "share", userID: "host"), receiver: listener)
        let video = membership.publish(.main, feedback: listener)
        if audio { _ = membership.publishAudio() }
        if let firstUnit { video.send(firstUnit) }
        return (membership, video)
    }
}
