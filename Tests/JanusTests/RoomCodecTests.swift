import Foundation
import TestSupport
import Testing

/// Rooms that take one codec of pictures only, as Janus makes them where nothing is said: VP8.
@Suite(
    .deadline(minutes: 4), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct RoomCodecTests {
    private static let sound =
        "audiotestsrc is-live=true ! audio/x-raw,rate=48000,channels=1 ! appsink name=audio"
    private static let pictures =
        "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=15/1"
    private static let units =
        "\(pictures) ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15"

    private static func configuration(_ codec: String) -> JanusServer.Configuration {
        var configuration = JanusServer.Configuration()
        configuration.rooms = [.init(Call.room)]
        configuration.rooms[0].videoCodecs = [codec]
        return configuration
    }

    /// Pictures are encoded as the room takes them; units in another codec are decoded and encoded.
    @Test(arguments: [
        (pictures, "vp8"), (units, "vp8"), (pictures, "h264"),
        ("\(pictures) ! vp8enc deadline=1 keyframe-max-dist=15", "h264"),
    ])
    func picturesAreSentAsTheRoomTakesThem(video: String, codec: String) async throws {
        try await Call.run(Self.configuration(codec)) { call in
            let alice = try call.join(
                "alice", ["--capture", "\(video) ! appsink name=video \(Self.sound)"])
            let bob = try call.join("bob", ["--record", try call.makeDirectory("of-bob")])
            try await bob.waitsForPictures(of: "alice")
            let file = try #require(try await bob.report().files?.first)
            #expect(try await alice.report().ended == "interrupt")
            let probe = try await MediaProbe(of: file.path)
            #expect(probe.video?.codec == codec)
            #expect(probe.video?.frames == file.frames)
            #expect(file.frames >= 10)
            #expect(probe.audio?.codec == "opus")
            #expect(!alice.errors.contains("does not take"))
        }
    }

    @Test func aRoomOfAThirdCodecIsAnError() async throws {
        try await Call.run(Self.configuration("vp9")) { call in
            let alice = try await call.join("alice", sending: []).end()
            #expect(alice.status == 1)
            #expect(alice.errors.contains("the room does not take H.264 or VP8"))
            #expect(alice.errors.contains("videocodec"))
        }
    }

    @Test func aCodecThatWasChosenIsNotChanged() async throws {
        try await Call.run(Self.configuration("vp8")) { call in
            let alice = try await call.join("alice", sending: ["--codec", "h264"]).end()
            #expect(alice.status == 1)
            #expect(alice.errors.contains("the room does not take H.264"))
            #expect(alice.errors.contains("videocodec"))
        }
    }
}
