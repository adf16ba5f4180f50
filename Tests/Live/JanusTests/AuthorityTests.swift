import Foundation
import MediaBridgeJanus
import TestSupport
import Testing

@testable import enum MediaBridgeJanus.JSONValue
@testable import struct MediaBridgeJanus.JanusFailure
@testable import struct MediaBridgeJanus.JanusHandle

/// A client can take part in a room, but not administer it: on a server of `gst-bridge host`, and in a
/// room that a user created.
@Suite(.hangGuard, .needsJanus) struct AuthorityTests {
    /// Requests that administer a room, apart from "create".
    private static let administration: [[String: JSONValue]] = [
        ["request": "edit", "new_rec_dir": "/tmp"], ["request": "edit", "new_pin": "1234"],
        ["request": "enable_recording", "record": true],
        ["request": "kick", "id": "anna"],
        ["request": "moderate", "id": "anna", "mid": "0", "mute": true],
        ["request": "allowed", "action": "disable"],
        [
            "request": "rtp_forward", "publisher_id": "anna", "host": "127.0.0.1",
            "streams": [["mid": "0", "port": 9]],
        ],
        ["request": "stop_rtp_forward", "publisher_id": "anna", "stream_id": 1],
        ["request": "listforwarders"], ["request": "destroy"],
    ]

    /// Expects that administration requests are refused, with a valid room token and without any token.
    private func expectNoAdministration(
        of room: String, at url: String, token: String? = nil
    ) async throws {
        try await withHandle(at: url, token: token) { handle in
            for var request in Self.administration {
                request["room"] = .string(room)
                try await expectRefusal(of: request, by: handle)
            }
            try await expectRefusal(of: ["request": "create", "room": "another"], by: handle)
        }
    }

    private func expectRefusal(
        of request: [String: JSONValue], by handle: JanusHandle
    ) async throws {
        do throws(JanusFailure) {
            _ = try await handle.request(request)
            Issue.record("\(request) was granted")
        } catch {
            // A request that fails because another field is missing would prove nothing.
            let lacksSecret = ["secret", "admin_key"].contains(where: error.message.contains)
            #expect(
                error.code == JanusFailure.unauthorized
                    || error.code == JanusFailure.missingElement && lacksSecret,
                "\(request): \(error)")
        }
    }

    /// Runs `body` with the server of a local `gst-bridge host` with two channels.
    private func withHost(
        _ more: [String] = [], _ body: (String) async throws -> Void
    ) async throws {
        try await withLocalHost(["standup", "review"] + more) { try await body($0.server) }
    }

    @Test func channelWithoutTokensRefusesAdminRequests() async throws {
        try await withHost { url in
            let transport = try JanusTransport(server: url, configuration: .patient)
            let anna = RoomReceiver()
            let member = try await transport.join("standup", as: "anna", anna)
            try await expectNoAdministration(of: "standup", at: url)
            await member.leave()
            #expect(anna.events.value.isEmpty)
        }
    }

    @Test func channelTokenGrantsNoAdminRights() async throws {
        try await withTemporaryDirectory { directory in
            let secret = "a secret of the server"
            let file = try directory.write(secret + "\n", to: "secret")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            try await withHost(["--secret-file", file]) { url in
                let tokens = try JanusTokens(secret: secret)
                let pair = try tokens.token(forChannel: "standup", validFor: .seconds(3600))
                    .split(separator: " ").map(String.init)
                try await expectNoAdministration(of: "standup", at: url, token: pair[0])
                try await withHandle(at: url, token: pair[0]) { handle in
                    for var request in Self.administration {
                        request["room"] = "review"
                        try await expectRefusal(of: request, by: handle)
                    }
                    try await expectRefusal(
                        of: [
                            "request": "join", "ptype": "publisher", "room": "review",
                            "id": "mallory", "token": .string(pair[1]),
                        ], by: handle)
                }
            }
        }
    }

    @Test func roomCreatedByAUserRefusesAdminRequests() async throws {
        try await LocalJanus.run { server in
            var configuration = JanusTransport.Configuration.patient
            configuration.roomCreation = .init(adminKey: LocalJanus.adminKey)
            let transport = try JanusTransport(server: server.url, configuration: configuration)
            let member = try await transport.join("attic", as: "anna")
            try await expectNoAdministration(of: "attic", at: server.url)
            await member.leave()
        }
    }
}
