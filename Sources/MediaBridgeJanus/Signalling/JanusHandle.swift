/// A handle of a session: one participation in the VideoRoom plugin. Thread: any.
struct JanusHandle: Sendable {
    let session: JanusSession
    let id: Int

    /// Attaches to the VideoRoom plugin.
    static func attach(to session: JanusSession) async throws(JanusFailure) -> JanusHandle {
        let answer = try await session.request(
            ["janus": "attach", "plugin": "janus.plugin.videoroom"], attaches: true)
        guard let id = answer.data?.id else {
            throw JanusFailure(.badAnswer, "the Janus server did not create a handle")
        }
        return JanusHandle(session: session, id: id)
    }

    /// Sends a request to the plugin and returns its answer.
    func request(
        _ body: [String: JSONValue], jsep: (type: String, sdp: String)? = nil
    ) async throws(JanusFailure) -> JanusMessage {
        try await session.request(message(body, jsep))
    }

    /// Sends a request to the plugin without waiting for an answer.
    func post(_ body: [String: JSONValue]) { session.post(message(body, nil)) }

    private func message(
        _ body: [String: JSONValue], _ jsep: (type: String, sdp: String)?
    ) -> [String: JSONValue] {
        var message: [String: JSONValue] = [
            "janus": "message", "handle_id": .number(id), "body": .object(body),
        ]
        if let jsep { message["jsep"] = ["type": .string(jsep.type), "sdp": .string(jsep.sdp)] }
        return message
    }

    /// Detaches the handle: its participant leaves the room.
    func detach() {
        session.post(["janus": "detach", "handle_id": .number(id)])
        session.forget(id)
    }
}
