import BridgeEngine
import Foundation
import MediaBridgeTesting
import TestSupport
import Testing

@testable import MediaBridge

/// Encoders in a string that keep to the bit rate the network can carry.
@Suite(.hangGuard) struct EncoderLimitTests {
    private static let encoders = [
        "x264enc tune=zerolatency bitrate=2000 ! h264parse",
        "x264enc tune=zerolatency bitrate=2000 ! queue ! h264parse ! video/x-h264,alignment=au",
        "x265enc tune=zerolatency speed-preset=ultrafast bitrate=2000 ! h265parse",
        "openh264enc rate-control=bitrate bitrate=2000000 ! h264parse",
        "vp8enc target-bitrate=2000000 end-usage=cbr deadline=1 cpu-used=8 lag-in-frames=0",
        "vp9enc target-bitrate=2000000 end-usage=cbr deadline=1 cpu-used=8 lag-in-frames=0",
    ]

    /// Noise, which uses all available bits.
    private func source(_ encoder: String, _ head: String = "") throws -> PipelineVideoSource {
        try PipelineVideoSource(
            "videotestsrc \(head) pattern=snow ! "
                + "video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! \(encoder)")
    }

    @Test(arguments: encoders)
    func encoderKeepsToABitRateLimit(encoder: String) async throws {
        let source = try source(encoder, "num-buffers=240")
        var sizes: [Int] = []
        for try await unit in source.encodedFrames() {
            sizes.append(unit.byteCount)
            guard sizes.count == 60 else { continue }
            var limit = VideoLimit()
            limit.bitRate = 200_000
            limit.size = VideoSize(width: 80, height: 60)
            let kept = source.adapt(to: limit)
            #expect(kept.bitRate == 200_000 && kept.size == nil)
        }
        #expect(sizes.count == 240)
        // Excludes the keyframe at the beginning and the units in flight at the change. Noise
        // cannot be encoded in few bits: openh264 gets down to 60 %.
        let (before, after) = (sizes[10..<60].reduce(0, +) / 50, sizes[150...].reduce(0, +) / 90)
        #expect(after * 4 < before * 3, "\(before) and \(after) bytes a unit")
    }

    @Test func limitAboveTheConfiguredBitRateHasNoEffect() throws {
        let source = try source("x264enc name=encoder bitrate=500 ! h264parse")
        let encoder = try #require(source.pipeline.element(named: "encoder"))
        for (limit, expected) in [(300_000, 300), (2_000_000, 500), (nil, 500), (100, 1)] {
            var wish = VideoLimit()
            wish.bitRate = limit
            let kept = source.adapt(to: wish)
            #expect(kept.bitRate == limit.map { min($0, 500_000) })
            #expect(encoder.uint("bitrate") == expected)
        }
    }

    @Test(arguments: ["", "jpegenc", "tee name=t t. ! x264enc ! fakesink t. ! identity"])
    func limitHasNoEffectWithoutASuitableEncoder(elements: String) throws {
        let source = try PipelineVideoSource(
            elements.isEmpty ? "videotestsrc" : "videotestsrc ! \(elements)")
        var limit = VideoLimit()
        limit.bitRate = 100_000
        #expect(source.adapt(to: limit) == VideoLimit())
    }

    /// The limit passes from the network to the encoder in the string, and is lifted when the
    /// network has bandwidth again.
    @Test func encoderOfACallFollowsTheNetworkBitRate() async throws {
        let network = LossyTransport(LoopbackNetwork())
        let (sender, receiver) = (MediaEngine(transport: network), MediaEngine(transport: network))
        let source = try source(
            "x264enc name=encoder tune=zerolatency bitrate=2000 ! h264parse", "is-live=true")
        let encoder = try #require(source.pipeline.element(named: "encoder"))
        let events = sender.events
        func kept() async -> VideoLimit? {
            await events.first { event in
                if case .sourceLimited(.main, let limit) = event { limit } else { nil }
            }
        }
        try await receiver.addVideoSink(
            PipelineVideoSink("fakevideosink"), to: .remote("anna"))
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        try await sender.setVideoSource(source)
        try await sender.joinChannel("room", userID: "anna")
        var impairment = NetworkImpairment()
        impairment.bitRate = 1_000_000
        network.impair(impairment)
        #expect(await kept()?.bitRate == 900_000)
        #expect(encoder.uint("bitrate") == 900)
        network.impair(nil)
        #expect(await kept() == VideoLimit())
        #expect(encoder.uint("bitrate") == 2000)
        await sender.shutDown()
        await receiver.shutDown()
    }
}
