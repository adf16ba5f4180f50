import Foundation
import TestSupport
import Testing

/// aiortc and simple-whip-client against `gst-bridge`, in all four roles.
@Suite(
    .deadline(minutes: 2), .serialized,
    .enabled(if: TestNetwork.isAvailable, Comment(rawValue: TestNetwork.unavailable ?? "")))
struct AiortcTests {
    private static var peer: AiortcPeer.Configuration {
        var configuration = AiortcPeer.Configuration()
        configuration.token = ServingProgram.token
        return configuration
    }

    /// Without sound the answer refuses an m-line.
    @Test(arguments: [("H264", true), ("VP8", false)])
    func aiortcPlaysWhatIsShared(codec: String, hasSound: Bool) async throws {
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
                configuration.pictures = 45
                let player = try await AiortcPeer(
                    .play("\(share.origin)/whep"), on: network.client, configuration)
                let played = try await player.report()
                #expect(played.error == nil)
                #expect(played.pictures >= 45)
                #expect(hasSound ? played.sound > 10 : played.sound == 0)
                #expect(played.mean < 8)
                #expect(played.isRising, "\(played.numbers)")
                #expect(try await share.end().ended == "interrupt")
            }
        }
    }

    @Test func whatAiortcAndAWhipClientSendIsRecorded() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let receive = try await ServingProgram(
                    ["receive", "--record", directory.path], on: network.server)
                let sender = try await AiortcPeer(
                    .send("\(receive.origin)/whip?name=aiortc"), on: network.client, Self.peer)
                let pictures = try NumberedPictures(in: directory)
                let client = try await WhipClient(
                    to: "\(receive.origin)/whip?name=client", token: ServingProgram.token,
                    video: WhipClient.h264(pictures.source), audio: WhipClient.tone,
                    on: network.client, in: directory)
                for name in ["aiortc", "client"] {
                    try await receive.process.waitForErrors(to: "tell of \(name)") {
                        $0.contains("\(name) sends")
                    }
                }
                // Progress is told once a second.
                let lines = receive.process.errors.split(separator: " fps  ").count
                try await receive.process.waitForErrors(to: "report progress") {
                    $0.split(separator: " fps  ").count >= lines + 3
                }
                #expect(try await sender.stop().error == nil)
                client.process.send(signal: SIGINT)
                _ = try await client.process.end()
                let report = try await receive.end()
                for name in ["aiortc", "client"] {
                    let file = try #require(
                        report.files?.first { $0.path.contains("/\(name)-") }, "\(name)")
                    let readings = try await NumberedPictures.readings(of: file.path)
                    #expect(readings.count >= 15, "\(name)")
                    let isRising = readings.isRising
                    #expect(
                        isRising,
                        "\(name) \(report) \(readings.map(\.number)) \(receive.process.errors)")
                    let worst = readings.map(\.mean).max() ?? 0
                    #expect(
                        worst < 8,
                        "\(name) \(report) \(readings.map(\.number)) \(receive.process.errors)")
                    #expect(try await MediaProbe(of: file.path).audio?.codec == "opus")
                }
            }
        }
    }

    @Test func aServerOfAiortcIsSentToAndRecordedFrom() async throws {
        try await withTemporaryDirectory { directory in
            try await withTestNetwork { network in
                let server = try await AiortcPeer.serving(on: network.server, Self.peer)
                let pictures = try NumberedPictures(in: directory)
                let sending = try network.client.start(
                    Tool.gstBridge,
                    [
                        "run", "--capture", pictures.sourceWithSound, "--output",
                        "whip:\(server.url)/whip \(ServingProgram.token)",
                    ])
                let path = directory.file("recorded.mkv")
                let recording = try await network.client.run(
                    Tool.gstBridge,
                    [
                        "record", "--capture", "whep:\(server.url)/whep \(ServingProgram.token)",
                        "--frames", "60", path,
                    ])
                #expect(recording.status == 0, "\(recording.errors)")
                sending.send(signal: SIGINT)
                let sent = try await sending.end()
                #expect(sent.status == 0, "\(sent.errors)")
                let came = try await server.peer.stop()
                #expect(came.error == nil)
                #expect(came.pictures > 0)
                #expect(came.sound > 0)
                #expect(came.isRising, "\(came.numbers)")
                let readings = try await NumberedPictures.readings(of: path)
                #expect(readings.count >= 40)
                #expect(readings.isRising)
                #expect(readings.allSatisfy { $0.mean < 8 }, "\(readings.map(\.mean))")
                #expect(try await MediaProbe(of: path).audio?.codec == "opus")
            }
        }
    }
}

extension AiortcPeer.Report {
    /// Whether no number is lower than the one before it, as far as numbers that begin anew at 256 tell.
    fileprivate var isRising: Bool {
        zip(numbers, numbers.dropFirst()).allSatisfy { ($0.1 - $0.0) & 255 < 128 }
    }
}
