import Foundation
import TestSupport
import Testing

/// Rooms that accept only one video codec: VP8 is Janus's default.
@Suite(
    .hangGuard, .needsJanus, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct RoomCodecTests {
    private static func configuration(_ codecs: String...) -> JanusServer.Configuration {
        var configuration = JanusServer.Configuration()
        configuration.rooms = codecs.map { codec in
            var room = JanusServer.Room(codec)
            room.videoCodecs = [codec]
            return room
        }
        return configuration
    }

    /// Alice sends raw video, and dora sends encoded frames in the other codec.
    @Test(arguments: [
        ("vp8", "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=10"),
        ("h264", "vp8enc deadline=1 keyframe-max-dist=10"),
    ])
    func videoIsEncodedWithTheCodecOfTheRoom(codec: String, encoder: String) async throws {
        try await Call.run(Self.configuration(codec)) { call in
            let senders = try [("alice", nil), ("dora", encoder)].map { user, encoder in
                try call.join(
                    user, ["--capture", call.capture(user, encoder: encoder)], room: codec)
            }
            let bob = try call.join("bob", Call.watching + call.recording("bob"), room: codec)
            for user in ["alice", "dora"] {
                try await bob.waitsForPictures(of: user)
                try await bob.waits(for: "\(user) sends audio")
            }
            let files = try #require(try await bob.report().files)
            #expect(files.count == 2)
            for file in files {
                let name = URL(filePath: file.path).lastPathComponent
                let user = name.hasPrefix("alice-") ? "alice" : "dora"
                #expect(name.hasPrefix("\(user)-"))
                #expect(file.frames >= 10)
                try await file.expect(user, codec: codec)
            }
            for sender in senders {
                #expect(try await sender.report().ended == "interrupt")
                #expect(!sender.errors.contains("does not accept"))
            }
        }
    }

    /// A room without a codec that this library supports, and a room without the codec that the
    /// user chose.
    @Test(arguments: [
        ("vp9", [], "the room does not accept H.264 or VP8"),
        ("vp8", ["--codec", "h264"], "the room does not accept H.264"),
    ])
    func codecNotAllowedInTheRoomIsAnError(
        room: String, options: [String], message: String
    ) async throws {
        try await Call.run(Self.configuration(room)) { call in
            let alice = try await call.join(
                "alice", ["--capture", call.capture("alice")] + options, room: room
            ).end()
            #expect(alice.status == 1)
            #expect(alice.errors.contains(message))
            #expect(alice.errors.contains("videocodec"))
        }
    }
}
