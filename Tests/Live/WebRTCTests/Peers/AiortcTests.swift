import Foundation
import TestSupport
import Testing

/// aiortc and simple-whip-client against `gst-bridge`, in all four roles.
@Suite(
    .hangGuard, .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct AiortcTests {
    private static var peer: AiortcPeer.Configuration {
        var configuration = AiortcPeer.Configuration()
        configuration.token = ServingProgram.token
        configuration.pictures = 15
        return configuration
    }

    /// Without audio, the answer rejects an m-line.
    @Test(arguments: [("H264", true), ("VP8", false)])
    func aiortcPlaysSharedMedia(codec: String, hasSound: Bool) async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let pictures = try NumberedPictures(in: directory)
                let share = try await ServingProgram(
                    [
                        "share", "--capture",
                        hasSound ? pictures.sourceWithSound : pictures.source, "--codec",
                        codec.lowercased(),
                    ], on: network.server)
                var configuration = Self.peer
                configuration.sound = hasSound ? 10 : 0
                let player = try await AiortcPeer(
                    .play("\(share.origin)/whep"), on: network.client, configuration)
                let played = try await player.report()
                #expect(played.error == nil)
                #expect(played.pictures >= 15)
                #expect(hasSound ? played.sound >= 10 : played.sound == 0)
                #expect(played.mean < 8)
                #expect(played.numbers.areInOrder(), "\(played.numbers)")
                #expect(try await share.end().ended == "interrupt")
            }
        }
    }

    /// The client sends B-frames, unlike any browser.
    @Test func recordsMediaFromAiortcAndAWHIPClient() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let receive = try await ServingProgram(
                    ["receive", "--record", directory.path], on: network.server)
                let sender = try await AiortcPeer(
                    .send("\(receive.origin)/whip?name=aiortc"), on: network.client, Self.peer)
                let pictures = try NumberedPictures(in: directory)
                let client = try await WhipClient(
                    to: "\(receive.origin)/whip?name=client", token: ServingProgram.token,
                    video: WhipClient.h264(pictures.source, reorders: true), audio: WhipClient.tone,
                    on: network.client, in: directory)
                for name in ["aiortc", "client"] { try await receive.waitForRecording(of: name) }
                try await sender.waitUntilEnough()
                try await receive.waitForPictures(30)
                #expect(try await sender.stop().error == nil)
                client.process.send(signal: SIGINT)
                _ = try await client.process.end()
                let report = try await receive.end()
                for name in ["aiortc", "client"] {
                    // On a slow machine a file of audio may come first: a recording waits 2 s for
                    // pictures.
                    let files =
                        report.files?.filter { $0.path.contains("/\(name)-") && $0.frames > 0 }
                        ?? []
                    #expect(files.count == 1, "\(name) \(report)")
                    try await files.first?.check()
                }
            }
        }
    }

    @Test func sendsToAndRecordsFromAnAiortcServer() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                var configuration = Self.peer
                configuration.sound = 10
                let server = try await AiortcPeer.serving(on: network.server, configuration)
                let pictures = try NumberedPictures(in: directory)
                let sending = try network.client.start(
                    Tool.gstBridge,
                    [
                        "run", "--capture", pictures.sourceWithSound, "--output",
                        "whip:\(server.url)/whip \(ServingProgram.token)",
                    ])
                try await server.peer.waitUntilEnough()
                let path = directory.file("recorded.mkv")
                let recording = try await network.client.run(
                    Tool.gstBridge,
                    [
                        "record", "--capture", "whep:\(server.url)/whep \(ServingProgram.token)",
                        "--frames", "20", path,
                    ])
                #expect(recording.status == 0, "\(recording.errors)")
                sending.send(signal: SIGINT)
                let sent = try await sending.end()
                #expect(sent.status == 0, "\(sent.errors)")
                let came = try await server.peer.stop()
                #expect(came.error == nil)
                #expect(came.pictures >= 15)
                #expect(came.sound >= 10)
                #expect(came.numbers.areInOrder(), "\(came.numbers)")
                let readings = try await NumberedPictures.readings(of: path)
                #expect(readings.count == 20)
                #expect(readings.map(\.number).areInOrder(), "\(readings.map(\.number))")
                #expect(readings.allSatisfy { $0.mean < 8 }, "\(readings.map(\.mean))")
                #expect(try await MediaProbe(of: path).audio?.codec == "opus")
            }
        }
    }
}
