internal import BridgeEngine
internal import Synchronization

/// The current token, and the requests that carry it. Thread: any.
final class Credentials: Sendable {
    private struct State {
        var token: String?
        /// The server's number (`private_id`) that links subscriptions to this user.
        var privateID: Int?
    }
    private let request: ChannelRequest
    private let pin: String?
    private let state: Mutex<State>

    init(_ request: ChannelRequest, pin: String?) {
        self.request = request
        self.pin = pin
        state = Mutex(State(token: request.token))
    }

    var tokens: TokenPair { TokenPair(state.withLock { $0.token }) }

    func setToken(_ token: String) { state.withLock { $0.token = token } }
    func setPrivateID(_ number: Int?) { state.withLock { $0.privateID = number } }

    /// Returns the request to join as a participant that may publish.
    func joining(as feed: FeedID) -> [String: JSONValue] {
        var body = joining()
        body["ptype"] = "publisher"
        body["id"] = .string(feed.description)
        // Janus announces a later change of the display name only if the participant joined with
        // one.
        body["display"] = .string(request.userID.name)
        return body
    }

    /// Returns the request to join as a subscriber, without the streams.
    func subscribing() -> [String: JSONValue] {
        var body = joining()
        body["ptype"] = "subscriber"
        if let number = state.withLock({ $0.privateID }) { body["private_id"] = .number(number) }
        return body
    }

    private func joining() -> [String: JSONValue] {
        var body: [String: JSONValue] = ["request": "join", "room": .string(request.channel)]
        if let pin { body["pin"] = .string(pin) }
        if let token = tokens.room { body["token"] = .string(token) }
        return body
    }

    /// Returns the request to create the room. The room gets a random secret that is not stored:
    /// without a secret, every client could change, record, forward and destroy the room.
    func creating(_ creation: JanusTransport.RoomCreation) -> [String: JSONValue] {
        var body: [String: JSONValue] = [
            "request": "create", "room": .string(request.channel), "permanent": false,
            "notify_joining": true, "publishers": .number(max(1, creation.capacity)),
            "videocodec": "h264,vp8", "audiocodec": "opus", "bitrate": 0,
            "secret": .string("\(UInt64.random(in: 0...(.max)))-\(UInt64.random(in: 0...(.max)))"),
            "lock_record": true,
        ]
        if let key = creation.adminKey { body["admin_key"] = .string(key) }
        if let pin { body["pin"] = .string(pin) }
        if creation.demandsTokens, tokens.room != nil { body["signed_tokens"] = true }
        return body
    }
}
