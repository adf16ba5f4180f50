import BridgeEngine
import Foundation
import MediaBridgeTesting
import Synchronization
import TestSupport
import Testing

@testable import MediaBridge

/// Raw frames into a channel that carries none: the engine encodes them as the network allows.
@Suite(.hangGuard) struct EncodedChannelTests {
    private final class Screen: VideoSink, Sendable {
        let frames = Observed<[(time: MediaTime, size: VideoSize)]>([])
        func render(_ frame: VideoFrame) throws {
            let (time, size) = (frame.runningTime ?? .zero, frame.size)
            frames.change { $0.append((time, size)) }
        }
    }

    private let network = LoopbackNetwork(carriesRawFrames: false)

    /// Sends a camera's frames through the channel.
    private func call(
        _ count: Int, _ camera: String = "width=320,height=240,framerate=30/1",
        _ change: (inout VideoEncoderConfiguration) -> Void = { _ in }
    ) async throws -> (MediaEngine, MediaEngine, Screen, EventSequence<EngineEvent>) {
        let (sender, receiver) = (MediaEngine(transport: network), MediaEngine(transport: network))
        let screen = Screen()
        var configuration = VideoEncoderConfiguration()
        change(&configuration)
        try await sender.setVideoEncoderConfiguration(configuration)
        try await receiver.addVideoSink(screen, to: .remote("anna"))
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        try await sender.setVideoSource(
            PipelineVideoSource(
                "videotestsrc is-live=true num-buffers=\(count) pattern=ball ! "
                    + "video/x-raw,format=I420,\(camera)"))
        let events = sender.events
        try await sender.joinChannel("room", userID: "anna")
        return (sender, receiver, screen, events)
    }

    /// Without a clock no frame may be lost, however slow the encoder is.
    @Test(arguments: [VideoCodec?.none, .vp8])
    func fileIsEncodedAndDecodedCompletelyWithoutAClock(codec: VideoCodec?) async throws {
        var offline = MediaEngine.Configuration()
        offline.isRealTime = false
        let network = LoopbackNetwork(depth: 1000, carriesRawFrames: false)
        let sender = MediaEngine(configuration: offline, transport: network)
        let receiver = MediaEngine(configuration: offline, transport: network)
        let screen = Screen()
        var configuration = VideoEncoderConfiguration()
        configuration.codec = codec
        try await sender.setVideoEncoderConfiguration(configuration)
        try await receiver.addVideoSink(screen, to: .remote("anna"))
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        try await sender.setVideoSource(
            PipelineVideoSource(
                "videotestsrc num-buffers=30 pattern=ball ! "
                    + "video/x-raw,format=I420,width=160,height=120,framerate=30/1"))
        let events = sender.events
        try await sender.joinChannel("room", userID: "anna")
        for await event in events { if case .sourceEnded = event { break } }
        // Frames in flight may be discarded when the sender leaves.
        await screen.frames.wait { $0.count >= 30 }
        let remote = await receiver.statistics { $0.remote["anna"]?[.main]?.decoding.waiting == 0 }
            .remote["anna"]?[.main]
        await sender.shutDown()
        await receiver.shutDown()
        let whole = FrameBalance(offered: 30, delivered: 30)
        let track = try #require(await sender.statistics.local[.main])
        #expect(track.accepted == 30 && track.encoding == whole)
        #expect(await sender.statistics.outgoing.delivered == 30)
        #expect(remote?.received == 30 && remote?.decoding == whole)
        let times = screen.frames.value.map(\.time)
        #expect(times.count == 30 && times == times.sorted())
    }

    /// A network that carries a tenth of the required bit rate: motion is scaled down, and for
    /// text, frames are dropped.
    @Test(arguments: [VideoContentHint.motion, .text])
    func encoderKeepsToTheBitRateOfANarrowNetwork(hint: VideoContentHint) async throws {
        let clock = VirtualTimeline()
        let network = LossyTransport(
            LoopbackNetwork(carriesRawFrames: false, timeline: clock), on: clock)
        var impairment = NetworkImpairment()
        impairment.bitRate = 120_000
        impairment.longestQueue = .seconds(1)
        network.impair(impairment)
        let engines = (0..<2).map { _ in
            MediaEngine(
                configuration: .init(), backend: ClockedBackend(clock), transport: network,
                timeline: clock)
        }
        let (sender, receiver) = (engines[0], engines[1])
        let screen = Screen()
        var configuration = VideoEncoderConfiguration()
        configuration.contentHint = hint
        try await sender.setVideoEncoderConfiguration(configuration)
        try await receiver.addVideoSink(screen, to: .remote("anna"))
        try await receiver.joinChannel("room", userID: "ben", role: .audience)
        try await sender.setVideoSource(
            ClockedSource(
                "videotestsrc num-buffers=150 pattern=ball ! "
                    + "video/x-raw,format=I420,width=640,height=480,framerate=30/1",
                clock, isLive: true
            ) {
                _ = await sender.statistics { ($0.local[.main]?.encoding.waiting ?? 0) == 0 }
                _ = await receiver.statistics {
                    ($0.remote["anna"]?[.main]?.decoding.waiting ?? 0) == 0
                }
            })
        let events = sender.events
        try await sender.joinChannel("room", userID: "anna")
        for await event in events { if case .sourceEnded = event { break } }
        // The last frame may still be in the encoder. The network delivers it after at most two seconds.
        _ = await sender.statistics { ($0.local[.main]?.encoding.waiting ?? 0) == 0 }
        clock.advance(by: .seconds(2))
        let statistics = await sender.statistics { $0.channel?.outgoing.waiting == 0 }
        let outgoing = try #require(statistics.channel?.outgoing)
        let track = try #require(statistics.local[.main])
        await sender.shutDown()
        await receiver.shutDown()
        // The frames that fit get through.
        #expect(
            outgoing.offered > 0 && outgoing.dropped[.lost] * 10 <= outgoing.offered, "\(outgoing)")
        let sizes = Set(screen.frames.value.map(\.size.width))
        if hint == .text {
            #expect(sizes == [640] && track.encoding.dropped[.frameRate] > 60)
        } else {
            // The first frames may arrive before the limit.
            #expect((screen.frames.value.last?.size.width ?? 640) < 640)
            #expect(track.encoding.dropped[.frameRate] == 0)
        }
    }

    /// The sender's encoder configuration changes while it runs.
    @Test func theConfigurationChangesWithoutANewTrack() async throws {
        let (sender, receiver, screen, events) = try await call(3000) { $0.bitRate = 300_000 }
        await screen.frames.wait { $0.count >= 5 }
        var configuration = VideoEncoderConfiguration()
        configuration.size = VideoSize(width: 160, height: 120)
        configuration.codec = .vp8
        try await sender.setVideoEncoderConfiguration(configuration)
        await screen.frames.wait { $0.last?.size.width == 160 }
        try await sender.leaveChannel()
        await sender.shutDown()
        await receiver.shutDown()
        let published = await events.rest().count {
            if case .published(.video, _) = $0 { true } else { false }
        }
        #expect(published == 0)
        let sizes = screen.frames.value.map(\.size.width)
        #expect(sizes == sizes.sorted(by: >))
    }

    /// All viewers share one encoder, and a late viewer gets a keyframe.
    @Test func lateViewerGetsAKeyframeFromTheEncoder() async throws {
        let (sender, receiver, screen, _) = try await call(3000)
        await screen.frames.wait { $0.count >= 5 }
        let late = MediaEngine(transport: network)
        let second = Screen()
        try await late.addVideoSink(second, to: .remote("anna"))
        try await late.joinChannel("room", userID: "late", role: .audience)
        await second.frames.wait { $0.count >= 5 }
        #expect(second.frames.value.count >= 5)
        await late.shutDown()
        await receiver.shutDown()
        // Without a viewer, nothing is encoded.
        let events = sender.events
        let before = await sender.statistics.local[.main]?.encoding.dropped[.paused] ?? 0
        let paused = await events.first { event -> Int? in
            guard case .statistics(let now) = event else { return nil }
            let count = now.local[.main]?.encoding.dropped[.paused] ?? 0
            return count > before ? count : nil
        }
        #expect(paused != nil)
        await sender.shutDown()
    }

    @Test func codecThatTheChannelDoesNotCarryIsReported() async throws {
        let (sender, receiver, _, events) = try await call(30) {
            $0.codec = VideoCodec(mediaType: "video/x-nobody-knows")
        }
        var failure: EngineError?
        for await event in events {
            if case .publicationChanged(.video(.main), .failed(let error)) = event {
                failure = error; break
            }
        }
        #expect(failure?.code == .invalidArgument)
        await sender.shutDown()
        await receiver.shutDown()
    }
}
