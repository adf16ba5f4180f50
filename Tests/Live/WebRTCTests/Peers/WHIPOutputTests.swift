import MediaBridgeHTTP
import MediaBridgeWebRTC
import TestSupport
import Testing

@testable import MediaBridge

/// An output `whip:URL` sends the capture, or reports why it cannot.
@Suite(.hangGuard) struct WHIPOutputTests {
    private static let pictures =
        "videotestsrc num-buffers=30 ! video/x-raw,width=160,height=120,framerate=30/1"
    private static let sound =
        "audiotestsrc num-buffers=50 samplesperbuffer=960 ! audio/x-raw,rate=48000"

    private static func run(
        _ capture: String, to url: String
    ) async throws -> (BridgeReport, StreamCounts) {
        var plan = BridgePlan(capture: capture, outputs: ["whip:\(url)"])
        try await plan.connectAddresses()
        let report = await (try Bridge(plan)).run()
        return (report, try #require(report.outputs.values.first))
    }

    /// At the addresses that an output uses: the loopback only without a network.
    private static var ofThisMachine: PeerConnection.Configuration {
        var configuration = PeerConnection.Configuration.loopback
        if !LocalAddresses.list().isEmpty { configuration.localAddresses = [] }
        return configuration
    }

    @Test(arguments: [
        "x264enc tune=zerolatency key-int-max=10 ! h264parse", "vp8enc deadline=1", "identity",
    ])
    func sendsAFileOfAnyFormatFromItsFirstFrame(encoder: String) async throws {
        let taker = WHIPTaker([.h264, .vp8], configuration: Self.ofThisMachine)
        let server = try ScriptedServer { taker.answer($0) }
        let (report, counts) = try await Self.run(
            "\(Self.pictures) ! \(encoder)", to: "\(server.url)/whip")
        #expect(report.failures.isEmpty)
        #expect(counts.balance.isBalanced && counts.balance.offered == 30)
        // A slow encoder drops frames, as in any live output. Encoded input needs no encoder and
        // drops none.
        #expect(encoder == "identity" ? counts.frames > 0 : counts.frames == 30)
        await taker.close()
    }

    @Test(arguments: ["identity", "opusenc"])
    func audioIsSentFromItsStartWhenVideoBeginsLater(encoder: String) async throws {
        let taker = WHIPTaker([.h264, .vp8], configuration: Self.ofThisMachine)
        let server = try ScriptedServer { taker.answer($0) }
        let (report, _) = try await Self.run(
            "\(Self.pictures) ! identity sleep-time=20000 ! appsink name=video "
                + "\(Self.sound) ! \(encoder) ! appsink name=audio",
            to: "\(server.url)/whip")
        #expect(report.failures.isEmpty, "\(report.failures)")
        // Opus adds a frame for what its encoder holds.
        let frames = try #require(report.captures["audio"]?.frames)
        #expect(frames == (encoder == "opusenc" ? 51 : 50))
        await taker.close()
    }

    @Test(arguments: ["identity", "opusenc"]) func audioAloneIsSent(encoder: String) async throws {
        let taker = WHIPTaker([.h264], configuration: Self.ofThisMachine)
        let server = try ScriptedServer { taker.answer($0) }
        let (report, _) = try await Self.run(
            "\(Self.sound) ! \(encoder)", to: "\(server.url)/whip")
        #expect(report.failures.isEmpty, "\(report.failures)")
        #expect(server.requests.map(\.method) == ["POST", "DELETE"])
        await taker.close()
    }

    @Test(arguments: [true, false])
    func refusalByTheServerIsAFailure(isLive: Bool) async throws {
        let server = try ScriptedServer { _ in .response("500 No", body: "the disk is full") }
        let (report, _) = try await Self.run(
            "videotestsrc is-live=\(isLive) num-buffers=3 ! video/x-raw,width=160,height=120",
            to: "\(server.url)/whip")
        #expect(report.ended == .error)
        #expect(report.failures.first?.message.contains("500") == true, "\(report.failures)")
    }

    @Test(arguments: [true, false]) func aClosedPortIsAFailure(isLive: Bool) async throws {
        let (report, _) = try await Self.run(
            "videotestsrc is-live=\(isLive) num-buffers=3 ! video/x-raw,width=160,height=120",
            to: "http://127.0.0.1:\(try FreePort.tcp())/whip")
        #expect(report.ended == .error)
        #expect(report.failures.count == 1, "\(report.failures)")
    }

    @Test func aLiveCaptureThatEndsBeforeTheServerAnswersIsAFailure() async throws {
        let taker = WHIPTaker([.h264, .vp8], configuration: Self.ofThisMachine)
        let go = Observed(false)
        let server = try ScriptedServer { request in
            if request.method == "POST" { blockingWait { await go.wait { $0 } } }
            return taker.answer(request)
        }
        var plan = BridgePlan(
            capture: "videotestsrc is-live=true num-buffers=3 ! video/x-raw,width=160,height=120",
            outputs: ["whip:\(server.url)/whip"])
        try await plan.connectAddresses()
        let bridge = try Bridge(plan)
        try #require(bridge.captures.first).pipeline.onMessage { message in
            if case .endOfStream = message { go.change { $0 = true } }
        }
        let report = await bridge.run()
        #expect(report.ended == .error)
        #expect(report.failures.count == 1, "\(report.failures)")
        #expect(report.outputs.values.first?.frames == 0)
        await taker.close()
    }

    @Test(arguments: [
        ("jpegenc", "WebRTC does not support mjpeg video", "decodebin"),
        (
            "x264enc bframes=2 b-adapt=false ! video/x-h264,profile=high ! h264parse", "B-frames",
            "bframes=0"
        ),
        (
            "x264enc bframes=2 b-adapt=false ! video/x-h264,profile=high ! rtph264pay ! rtph264depay ! h264parse",
            "B-frames", "bframes=0"
        ),
    ]) func codecUnsupportedByWebRTCIsAFailureWithAdvice(
        encoder: String, reason: String, remedy: String
    ) async throws {
        let taker = WHIPTaker([.h264, .vp8], configuration: Self.ofThisMachine)
        let server = try ScriptedServer { taker.answer($0) }
        let (report, counts) = try await Self.run(
            "\(Self.pictures) ! \(encoder)", to: "\(server.url)/whip")
        let failure = try #require(report.failures.first)
        #expect(failure.message.contains(reason), "\(failure)")
        #expect(failure.advice?.contains(remedy) == true, "\(failure)")
        #expect(report.ended == .error)
        #expect(counts.balance.isBalanced == true)
        await taker.close()
    }
}
