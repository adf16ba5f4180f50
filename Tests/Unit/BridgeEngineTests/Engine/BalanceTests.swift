import Dispatch
import MediaBasics
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

/// The counts cover a frame's whole path, and remain after the counted objects are gone.
@Suite(.hangGuard, .balanced)
struct BalanceTests {
    /// A sink with its own queue: of three frames, it drops one and keeps one waiting.
    private final class Queueing: VideoSink, AudioSink, FrameBalanceReporting {
        private let state = Mutex((balance: FrameBalance(), other: 0))
        let last = Happening()

        func render(_ frame: VideoFrame) { take() }
        func render(_ frame: AudioFrame) { take() }

        private func take() {
            let isLast = state.withLock { state in
                state.balance.offered += 1
                switch state.balance.offered % 3 {
                case 0: state.balance.delivered += 1
                case 1: state.balance.dropped[.evicted] += 1
                default: break
                }
                return state.balance.offered == 30
            }
            if isLast { last.happen() }
        }

        // Like a pipeline, each run counts from zero.
        func shouldStart() { state.withLock { $0.balance = FrameBalance() } }

        /// Waiting frames are shown at the end.
        func shouldStop() { state.withLock { $0.balance.delivered += $0.balance.waiting } }

        func frameBalance(of kind: MediaKind) -> FrameBalance { state.withLock { $0.balance } }

        func audioFormat() -> AudioConversion { AudioConversion() }
        func shouldInitialize() -> Bool { true }
        func shouldDispose() {}
    }

    @Test func framesDroppedByASinksQueueAreNotCountedAsRendered() async throws {
        let (engine, source, sink) = (makeEngine(), SourceScript(), Queueing())
        try await engine.setVideoSource(ScriptedSource(source))
        let id = try await engine.addVideoSink(sink, to: .local())
        for run in 1...2 {
            try await engine.startPreview()
            let seen = SinkScript()
            let other = try await engine.addVideoSink(ScriptedSink(seen), to: .local())
            for number in 0..<30 {
                try source.deliver(number)
                await seen.rendered(number + 1)
            }
            try await engine.stopPreview()
            let counts = try #require(await engine.statistics.videoSinks[id])
            // On a busy machine, the renderer's own queue may have dropped some frames.
            #expect(counts.balance.offered == 30 * run)
            #expect(counts.balance.dropped[.evicted] >= 10 * run - run)
            #expect(counts.balance.delivered < 30 * run - 8 * run)
            #expect(counts.balance.waiting == 0)
            try await engine.removeVideoSink(other)
        }
        await engine.shutDown()
    }

    @Test func framesDroppedByAnAudioSinkAreNotCountedAsPlayed() async throws {
        let clock = TestBackend()
        let (engine, sink) = (makeEngine(clock) { $0.hasVideo = false }, Queueing())
        try await engine.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        let id = try await engine.addAudioSink(sink, to: .local)
        try await engine.startPreview()
        for index in 0..<30 {
            let time = MediaTime(value: Int64(index), timescale: 100)
            clock.time.advance(by: MediaTime(value: 1, timescale: 100))
            #expect(engine.pushExternalAudioFrame(block(index), timestamp: time) == .accepted)
        }
        await sink.last.wait()
        try await engine.stopPreview()
        let counts = try #require(await engine.statistics.audioSinks[id])
        #expect(
            counts.balance.offered == 30 && counts.balance.delivered == 20
                && counts.balance.dropped[.evicted] == 10)
        try await engine.removeAudioSink(id)
        let statistics = await engine.statistics
        #expect(statistics.audioSinks[id] == nil)
        #expect(statistics.removed.audioSinks.latest[id]?.balance == counts.balance)
        #expect(statistics.localAudio?.balance == FrameBalance(offered: 30, delivered: 30))
        try await engine.disableExternalAudioSource()
        #expect(await engine.statistics.localAudio?.balance.offered == 30)
        await engine.shutDown()
        #expect(await engine.statistics.localAudio?.balance.offered == 30)
    }

    @Test func countsOutliveRemovalAndShutDown() async throws {
        let (engine, source) = (makeEngine(), SourceScript())
        try await engine.setVideoSource(ScriptedSource(source))
        let (kept, removed) = (SinkScript(), SinkScript())
        let keptID = try await engine.addVideoSink(ScriptedSink(kept), to: .local())
        let removedID = try await engine.addVideoSink(ScriptedSink(removed), to: .local())
        let track = try await engine.createCustomVideoTrack(.bytes)
        try await engine.startPreview()
        for number in 0..<3 {
            try source.deliver(number)
            await kept.rendered(number + 1)
            await removed.rendered(number + 1)
            #expect(engine.pushExternalVideoFrame(external(), track: track) == .accepted)
        }
        try await engine.removeVideoSink(removedID)
        try await engine.destroyCustomVideoTrack(track)
        try source.deliver(3)
        await kept.rendered(4)
        // The counts of the track continue with another source.
        let other = SourceScript()
        try other.deliverAtStart(4)
        try await engine.setVideoSource(ScriptedSource(other))
        await kept.rendered(5)
        await engine.shutDown()
        let statistics = await engine.statistics
        #expect(statistics.local[.main]?.delivered == 5)
        #expect(statistics.removed.tracks.latest[track]?.delivered == 3)
        #expect(statistics.videoSinks[keptID]?.balance.delivered == 5)
        #expect(statistics.removed.videoSinks.latest[removedID]?.balance.delivered == 3)
        #expect(statistics.allVideoSinks == FrameBalance(offered: 8, delivered: 8))
        #expect("\(statistics)".contains("video sink 1: 5 offered, 5 delivered"))
    }

    @Test func countsOfRemovedObjectsAreSummed() {
        var gone = Departed<Int, EngineStatistics.Remote>()
        for number in 1...200 { gone.add(number, .init(received: number)) }
        #expect(gone.latest.count == 64 && gone.latest[200]?.received == 200)
        #expect(gone.balance.delivered == 200 * 201 / 2)
        // The counts of a user that rejoins and leaves again are added.
        gone.add(200, .init(received: 5))
        #expect(gone.latest[200]?.received == 5)
        #expect(gone.balance.delivered == 200 * 201 / 2 + 5)
    }

    @Test func framesLostInASlowConversionAreCounted() async throws {
        let (backend, network) = (TestBackend(), LoopbackNetwork())
        let engine = makeEngine(backend, transport: network)
        let source = SourceScript()
        var encoder = VideoEncoderConfiguration()
        encoder.size = VideoSize(width: 2, height: 2)
        try await engine.setVideoEncoderConfiguration(encoder)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.joinChannel("room", userID: 1)
        let hang = backend.conversions.hang()
        for number in 0..<30 { try source.deliver(number) }
        let meanwhile = await engine.statistics.outgoing
        #expect(meanwhile.offered == 30 && meanwhile.dropped[.evicted] > 0)
        #expect(meanwhile.waiting > 0)
        hang.signal()
        try await engine.leaveChannel()
        let after = await engine.statistics
        #expect(after.outgoing.offered == 30 && after.outgoing.waiting == 0)
        #expect(after.sent == 30 - after.outgoing.dropped.total)
        await engine.shutDown()
    }

    @Test func refusalByTheProcessorsIsCountedOnce() async throws {
        let (engine, source) = (
            makeEngine { $0.isRealTime = false }, SourceScript()
        )
        let (hang, isInside) = (DispatchSemaphore(value: 0), Happening())
        try await engine.setVideoProcessors(
            [
                Work { frame in
                    isInside.happen()
                    hang.wait()
                    hang.signal()
                    return frame
                }
            ], at: .capture)
        try await engine.setVideoSource(ScriptedSource(source))
        try await engine.startPreview()
        async let isDelivered: Void = blocking {
            for number in 0..<12 { _ = try? source.deliver(number) }
        }
        await isInside.wait()
        // One frame is inside, four wait, and the source blocks with the next one.
        _ = await engine.statistics { $0.local[.main]?.balance.waiting == 6 }
        await engine.time.alarms(in: engine.configuration.stallTimeout * 10)
        engine.time.advance(by: .seconds(5))
        await isDelivered
        _ = await engine.statistics { $0.local[.main]?.balance.delivered == 7 }
        hang.signal()
        try await engine.stopPreview()
        // The output of an abandoned processor is counted when it appears.
        let statistics = await engine.statistics { $0.local[.main]?.balance.waiting == 0 }
        let track = try #require(statistics.local[.main])
        #expect(track.balance.offered == 12)
        #expect(track.balance.delivered == 7 && track.balance.dropped[.processor] == 5)
        await engine.shutDown()
    }

    @Test func firstRateIsMeasuredFromTheFirstFrame() {
        let clock = Mutex(MediaTime.zero)
        let meter = FrameMeter { clock.withLock { $0 } }
        let size = VideoSize(width: 4, height: 2)
        #expect(meter.rate(at: MediaTime(seconds: 1)) == 0)
        clock.withLock { $0 = MediaTime(seconds: 10) }
        for _ in 0..<51 { meter.note(size) }
        #expect(meter.rate(at: MediaTime(seconds: 12)) == 25)
        for _ in 0..<10 { meter.note(size) }
        #expect(meter.rate(at: MediaTime(seconds: 13)) == 10)
    }

    @Test func absenceOfAUserIsNotAFreeze() async throws {
        let backend = TestBackend()
        let rendered = SinkScript()
        let queue = SerialQueue(label: "test.feed")
        let clock = EngineClock(
            backend, isOffline: true, latency: .zero, timeline: backend.time)
        let feed = VideoSinkFeed(
            SinkQueueOptions(), clock: clock, queueTimeout: .seconds(10), on: queue
        ) { item in
            if case .picture(let frame) = item.frame { rendered.keep(frame) }
            return .accepted
        }
        let stream = VideoStream(backend)
        stream.attach(feed, for: RenderRequest())
        func show(at milliseconds: Int) async throws {
            backend.time.advance(to: clock.origin + MediaTime(.milliseconds(milliseconds)))
            stream.consume(try frame(milliseconds))
            await queue.outcome(within: .seconds(60), on: backend.time) {}
        }
        for time in [0, 40, 80] { try await show(at: time) }
        stream.markInterruption()
        for time in [5000, 5040] { try await show(at: time) }
        #expect(feed.freezes.all.count == 0)
        try await show(at: 6000)
        #expect(feed.freezes.all.count == 1 && feed.freezes.all.total == .milliseconds(960))
    }

    @Test func playbackKeepsItsCountsWhenAUserLeaves() async throws {
        let network = LoopbackNetwork()
        let carl = makeEngine(transport: network) { $0.hasVideo = false }
        try await carl.joinChannel("room", userID: "carl")
        try await carl.enableExternalAudioSink(sampleRate: 48000, channels: 1)
        let heard = SoundCollector()
        try await carl.addAudioSink(heard, to: .remote("anna"))
        let anna = makeEngine(transport: network) { $0.hasVideo = false }
        try await anna.enableExternalAudioSource(sampleRate: 48000, channels: 1)
        try await anna.joinChannel("room", userID: "anna")
        for index in 0..<20 {
            let time = anna.runningTime + MediaTime(value: Int64(index), timescale: 100)
            anna.pushExternalAudioFrame([Int16](repeating: 1000, count: 480), timestamp: time)
        }
        await heard.wait(for: 4800)
        _ = carl.pullPlaybackAudioFrame(length: 96000)
        let before = await carl.statistics.playback
        #expect(before.mixedSamples == 48000)
        let events = carl.events
        try await anna.leaveChannel()
        await events.first(named: "userOffline")
        let after = await carl.statistics.playback
        #expect(after.jitterBuffer.underruns >= before.jitterBuffer.underruns)
        #expect(after.jitterBuffer.missing >= before.jitterBuffer.missing)
        #expect(after.jitterBuffer.dropped >= before.jitterBuffer.dropped)
        #expect(before.jitterBuffer.underruns + before.jitterBuffer.missing > 0)
        for engine in [anna, carl] { await engine.shutDown() }
    }
}
