import Dispatch
import MediaBridge
import MediaBridgeWebRTC
import TestSupport
import Testing

/// `WHIPSink` against servers that do not accept every codec.
@Suite(.hangGuard) struct WHIPSinkTests {
    /// Renders frames until `isEnough`, or until the sink rejects them.
    private func render(to sink: WHIPSink, until isEnough: () -> Bool) async throws {
        sink.shouldStart()
        let source = try PipelineVideoSource(
            "videotestsrc is-live=true ! video/x-raw,width=160,height=120,framerate=30/1")
        do {
            for try await frame in source.frames() {
                try sink.render(frame)
                if isEnough() { break }
            }
        } catch { #expect(error is PipelineError) }
        await sink.finish()
    }

    private static func offers(_ server: ScriptedServer) -> [String] {
        server.requests.filter { $0.method == "POST" }.map(\.body)
    }

    private static var configuration: WHIPSink.Configuration {
        var configuration = WHIPSink.Configuration()
        configuration.connection = .loopback
        return configuration
    }

    @Test func endedSinkReleasesItsBridge() async throws {
        final class Token: Sendable {}
        weak var held: Token?
        let sink = try WHIPSink("http://127.0.0.1:1/whip", configuration: Self.configuration)
        do {
            let token = Token()
            held = token
            sink.begin([.video]) { [token] in
                _ = token
            } onFailure: { [token] _ in
                _ = token
            }
        }
        #expect(held != nil)
        await sink.finish()
        #expect(held == nil)
    }

    @Test(arguments: WHIPTaker.Refusal.allCases)
    func fallsBackToVP8WhenTheServerAcceptsNothingElse(refusal: WHIPTaker.Refusal) async throws {
        let taker = WHIPTaker([.vp8])
        let server = try ScriptedServer { taker.answer($0, refusal: refusal) }
        let sink = try WHIPSink("\(server.url)/whip", configuration: Self.configuration)
        try await render(to: sink) { taker.came.units.count >= 5 }
        #expect(sink.failure == nil)
        #expect(sink.balance.isBalanced)
        let offers = Self.offers(server)
        #expect(offers.count == 2)
        #expect(offers.first?.contains("H264/90000") == true)
        #expect(offers.last?.contains("VP8/90000") == true)
        // A VP8 keyframe has these bytes.
        let first = try #require(taker.came.units.first)
        #expect(first.dropFirst(3).prefix(3).elementsEqual([0x9d, 1, 0x2a]))
        await taker.close()
    }

    @Test func countsLiveMediaBeforeTheConnectionAsNotConnected() async throws {
        let mayAnswer = DispatchSemaphore(value: 0)
        let server = try ScriptedServer { _ in
            mayAnswer.wait()
            return .response("403 Forbidden")
        }
        let sink = try WHIPSink("\(server.url)/whip", configuration: Self.configuration)
        try await render(to: sink) {
            guard sink.balance.dropped[.notConnected] >= 3 else { return false }
            mayAnswer.signal()
            return true
        }
        let balance = sink.balance
        #expect(balance.isBalanced && balance.delivered == 0)
        #expect(balance.dropped.total == balance.dropped[.notConnected])
    }

    @Test func serverWithoutACommonCodecIsAnError() async throws {
        let server = try ScriptedServer { _ in .response("406 Not Acceptable") }
        let sink = try WHIPSink("\(server.url)/whip", configuration: Self.configuration)
        try await render(to: sink) { false }
        #expect(sink.failure?.code == .nothingInCommon)
        #expect(Self.offers(server).count == 2)
    }

    @Test(arguments: WHIPTaker.Refusal.allCases)
    func explicitCodecIsNotReplaced(refusal: WHIPTaker.Refusal) async throws {
        let taker = WHIPTaker([.vp8])
        let server = try ScriptedServer { taker.answer($0, refusal: refusal) }
        var configuration = Self.configuration
        configuration.video.codec = .h264
        let sink = try WHIPSink("\(server.url)/whip", configuration: configuration)
        try await render(to: sink) { false }
        #expect(sink.failure?.code == .nothingInCommon)
        #expect(Self.offers(server).count == 1)
        await taker.close()
    }
}
