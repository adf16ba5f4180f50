import Dispatch
import MediaBridgeAgora
import MediaBridgeTesting
import MediaCore
import Synchronization
import TestSupport
import Testing

@testable import BridgeEngine

/// Encoded units that pass through engines unchanged, and are decoded for consumers of raw frames.
@Suite(.hangGuard, .balanced)
struct CarriedUnitTests {
    let backend = TestBackend()

    /// Accepts H.264 without decoding.
    private final class UnitSink: VideoSink, Sendable {
        let units = Observed<[EncodedVideoFrame]>([])
        let pictures = Observed(0)

        func codecs() -> Set<VideoCodec> { [.h264] }
        func render(_ unit: EncodedVideoFrame) throws { units.change { $0.append(unit) } }
        func render(_ frame: VideoFrame) throws { pictures.change { $0 += 1 } }

        func taken(_ count: Int) async { await units.wait { $0.count >= count } }
        var marks: [UInt8] { units.value.compactMap(\.bytes.last) }
    }

    private func pushing(_ network: LoopbackNetwork? = nil) async throws -> MediaEngine {
        let engine =
            if let network { makeEngine(backend, transport: network) } else { makeEngine(backend) }
        try await engine.setExternalVideoSource(.encoded)
        return engine
    }

    @discardableResult
    private func push(
        _ engine: MediaEngine, isKey: Bool, _ mark: UInt8,
        codec: VideoCodec = .h264
    ) -> FrameDisposition {
        // A pushed frame gets the current time as its timestamp.
        engine.time.advance(by: .milliseconds(1))
        return engine.pushExternalEncodedVideoFrame(codec.unit(isKey: isKey, mark: mark))
    }

    @Test func unitsReachTheirConsumersWithoutDecoding() async throws {
        let engine = try await pushing()
        let sink = UnitSink()
        try await engine.setLocalVideoRenderer(sink)
        try await engine.startPreview()
        for mark: UInt8 in 1...9 { #expect(push(engine, isKey: mark == 1, mark) == .accepted) }
        await sink.taken(4)
        try await engine.stopPreview()
        #expect(sink.pictures.value == 0)
        #expect(sink.marks.first == 1 && sink.marks == sink.marks.sorted())
        let times = sink.units.value.compactMap(\.runningTime)
        #expect(times == times.sorted() && times.count == sink.marks.count)
        #expect(backend.decoders.calls.isEmpty)
        let track = try #require(await engine.statistics.local[.main])
        #expect(track.accepted == 9 && track.decoding.offered == 0)
        await engine.shutDown()
    }

    @Test func frameConsumersShareOneDecoderUntilTheLastLeaves() async throws {
        let engine = try await pushing()
        let (first, second, recorder) = (SinkScript(), SinkScript(), UnitSink())
        let one = try await engine.addVideoSink(ScriptedSink(first), to: .local())
        let two = try await engine.addVideoSink(ScriptedSink(second), to: .local())
        try await engine.addVideoSink(recorder, to: .local())
        try await engine.startPreview()
        push(engine, isKey: true, 1)
        await first.rendered(1)
        await second.rendered(1)
        await recorder.taken(1)
        try await engine.removeVideoSink(one)
        push(engine, isKey: false, 2)
        await second.rendered(2)
        #expect(backend.decoders.calls == ["make h264"])
        try await engine.removeVideoSink(two)
        push(engine, isKey: false, 3)
        await recorder.taken(3)
        try await engine.stopPreview()
        #expect(backend.decoders.calls == ["make h264", "stop h264"])
        #expect(recorder.marks == [1, 2, 3] && recorder.pictures.value == 0)
        await engine.shutDown()
    }

    /// A camera with an encoder; the test delivers its units.
    private final class Camera: VideoSource, Sendable {
        private let target = Mutex<(any VideoFrameConsumer)?>(nil)
        let requests = Observed(0)
        let started = Observed(false)
        var consumer: (any VideoFrameConsumer)? {
            get { target.withLock { $0 } }
            set { target.withLock { $0 = newValue } }
        }
        func bufferType() -> VideoBufferType { .pixelBuffer }
        func shouldStart() { started.change { $0 = true } }
        func shouldStop() {}
        func requestKeyFrame() -> Bool {
            requests.change { $0 += 1 }
            return true
        }

        func deliver(isKey: Bool, _ mark: UInt8, at milliseconds: Int) {
            var unit = VideoCodec.h264.unit(isKey: isKey, mark: mark)
            unit.runningTime = MediaTime(.milliseconds(milliseconds))
            consumer?.consume(unit)
        }
    }

    @Test func lateConsumersShareOneKeyframeRequest() async throws {
        let network = LoopbackNetwork()
        let engine = makeEngine(backend, transport: network)
        let camera = Camera()
        try await engine.setVideoSource(camera)
        let near = UnitSink()
        try await engine.addVideoSink(near, to: .local())
        try await engine.joinChannel("room", userID: "sender")
        camera.deliver(isKey: true, 1, at: 0)
        await near.taken(1)
        #expect(camera.requests.value == 0)
        // A recorder, a renderer and a user join.
        let late = UnitSink()
        try await engine.addVideoSink(late, to: .local())
        try await engine.addVideoSink(ScriptedSink(SinkScript()), to: .local())
        let receiver = makeEngine(TestBackend(), transport: network)
        let far = UnitSink()
        try await receiver.addVideoSink(far, to: .remote("sender"))
        try await receiver.joinChannel("room", userID: "receiver", role: .audience)
        for step in 2...4 { camera.deliver(isKey: false, UInt8(step), at: step * 40) }
        await camera.requests.wait { $0 >= 1 }
        camera.deliver(isKey: true, 5, at: 200)
        camera.deliver(isKey: false, 6, at: 240)
        await near.taken(6)
        await late.taken(2)
        await far.taken(2)
        await engine.shutDown()
        await receiver.shutDown()
        #expect(near.marks == [1, 2, 3, 4, 5, 6])
        #expect(late.marks == [5, 6] && far.marks == [5, 6])
        // One request for the engine's own track, and one for the channel.
        #expect(camera.requests.value <= 2)
    }

    /// If the track refuses a unit because of its time, no consumer gets it.
    @Test func dependentsOfARefusedUnitAreNotPassedOn() async throws {
        let engine = makeEngine(backend)
        let camera = Camera()
        try await engine.setVideoSource(camera)
        let (sink, script) = (UnitSink(), SinkScript())
        try await engine.addVideoSink(sink, to: .local())
        try await engine.addVideoSink(ScriptedSink(script), to: .local())
        try await engine.startPreview()
        camera.deliver(isKey: true, 1, at: 0)
        camera.deliver(isKey: false, 2, at: 2000)
        // The source's clock goes back further than any stream reorders.
        camera.deliver(isKey: false, 3, at: 40)
        camera.deliver(isKey: false, 4, at: 2040)
        await camera.requests.wait { $0 >= 1 }
        camera.deliver(isKey: true, 5, at: 2080)
        camera.deliver(isKey: false, 6, at: 2120)
        await sink.taken(4)
        await script.rendered(4)
        await engine.shutDown()
        #expect(sink.marks == [1, 2, 5, 6])
        #expect(script.frames.map { $0.metadata["unit"]?.last } == ["1", "2", "5", "6"])
        let track = try #require(await engine.statistics.local[.main])
        #expect(track.dropped[.backwards] == 1 && track.dropped[.needsKeyFrame] == 1)
    }

    /// A file that was read too late: reordered units keep their presentation order.
    @Test(arguments: [true, false])
    func clockIsResetOnlyAtAKeyframe(needsPacing: Bool) {
        var clock = SourceClock(isOffline: false)
        func due(_ time: Int, at now: Int, isKey: Bool) -> MediaTime? {
            var stamp = SourceClock.Stamp(time: MediaTime(.milliseconds(time)), liveTiming: nil)
            stamp.mayJump = isKey
            let moment = SourceClock.Moment(
                now: MediaTime(.milliseconds(now)), origin: .zero, last: nil,
                interval: MediaTime(.milliseconds(40)))
            guard case .due(let due, _, _) = clock.judge(stamp, needsPacing, nil, at: moment) else {
                return nil
            }
            return due
        }
        #expect(due(0, at: 0, isKey: true) == .zero)
        let late = due(40, at: 5000, isKey: false)
        #expect(late.map { $0 < MediaTime(.milliseconds(500)) } == true)
        let set = due(80, at: 5000, isKey: true)
        #expect(set.map { $0 >= MediaTime(.milliseconds(5000)) } == true)
    }

    @Test func sourceOfUnitsTakesOverWithAKeyframe() async throws {
        let engine = makeEngine(backend)
        let (old, new) = (Camera(), Camera())
        try await engine.setVideoSource(old)
        let sink = UnitSink()
        try await engine.addVideoSink(sink, to: .local())
        try await engine.startPreview()
        old.deliver(isKey: true, 1, at: 0)
        async let change: Void = engine.setVideoSource(new)
        await new.started.wait { $0 }
        new.deliver(isKey: false, 11, at: 0)
        old.deliver(isKey: false, 2, at: 40)
        await sink.taken(2)
        new.deliver(isKey: true, 12, at: 40)
        try await change
        new.deliver(isKey: false, 13, at: 80)
        await sink.taken(4)
        await engine.shutDown()
        #expect(sink.marks == [1, 2, 12, 13])
    }

    @Test func lateRendererRequestsAKeyframeAndWaitsForIt() async throws {
        let engine = try await pushing()
        let (recorder, script) = (UnitSink(), SinkScript())
        try await engine.addVideoSink(recorder, to: .local())
        try await engine.startPreview()
        push(engine, isKey: true, 1)
        await recorder.taken(1)
        try await engine.addVideoSink(ScriptedSink(script), to: .local())
        let events = engine.events
        push(engine, isKey: false, 2)
        await events.first(named: "keyFrameNeeded")
        push(engine, isKey: false, 3)
        await recorder.taken(3)
        push(engine, isKey: true, 4)
        await script.rendered(1)
        await recorder.taken(4)
        await engine.shutDown()
        #expect(script.frames.map { $0.metadata["unit"]?.last } == ["4"])
        #expect(recorder.marks == [1, 2, 3, 4])
    }

    @Test func processorsAndLaterConsumersGetFrames() async throws {
        struct Pass: VideoProcessor {
            func process(_ frame: consuming VideoFrame) -> VideoFrame? { frame }
        }
        let engine = try await pushing()
        let recorder = UnitSink()
        try await engine.addVideoSink(recorder, to: .local())
        try await engine.setVideoProcessors([Pass()], at: .capture)
        try await engine.startPreview()
        push(engine, isKey: true, 1)
        await recorder.pictures.wait { $0 >= 1 }
        #expect(recorder.marks.isEmpty)
        try await engine.setVideoProcessors([], at: .capture)
        // This unit refers to one that the sink did not get.
        push(engine, isKey: false, 2)
        push(engine, isKey: true, 3)
        await recorder.taken(1)
        await engine.shutDown()
        #expect(recorder.marks == [3])
        #expect(recorder.pictures.value == 1)
    }

    @Test func sinkForAnotherCodecReceivesDecodedFrames() async throws {
        let engine = try await pushing()
        let sink = UnitSink()
        try await engine.addVideoSink(sink, to: .local())
        try await engine.startPreview()
        push(engine, isKey: true, 1, codec: .vp8)
        await sink.pictures.wait { $0 >= 1 }
        await engine.shutDown()
        #expect(sink.marks.isEmpty)
    }

    @Test func aChannelCarriesUnitsAndTheReceiverDecodes() async throws {
        let network = LoopbackNetwork()
        let sender = try await pushing(network)
        let far = TestBackend()
        let receiver = makeEngine(far, transport: network)
        let (recorder, script) = (UnitSink(), SinkScript())
        try await receiver.addVideoSink(recorder, to: .remote("sender"))
        try await receiver.addVideoSink(ScriptedSink(script), to: .remote("sender"))
        try await receiver.joinChannel("room", userID: "receiver", role: .audience)
        try await sender.joinChannel("room", userID: "sender")
        for mark: UInt8 in 1...5 {
            push(sender, isKey: mark == 1, mark)
            await script.rendered(Int(mark))
        }
        await recorder.taken(5)
        #expect(recorder.marks == [1, 2, 3, 4, 5] && recorder.pictures.value == 0)
        #expect(backend.decoders.calls.isEmpty && far.decoders.calls == ["make h264"])
        await sender.shutDown()
        await receiver.shutDown()
        #expect(far.decoders.calls == ["make h264", "stop h264"])
    }

    @Test func lateUserStartsWithARequestedKeyframe() async throws {
        let network = LoopbackNetwork()
        let sender = try await pushing(network)
        try await sender.joinChannel("room", userID: "sender")
        push(sender, isKey: true, 1)
        let recorder = UnitSink()
        let receiver = makeEngine(TestBackend(), transport: network)
        try await receiver.addVideoSink(recorder, to: .remote("sender"))
        try await receiver.joinChannel("room", userID: "receiver", role: .audience)
        let events = sender.events
        push(sender, isKey: false, 2)
        await events.first(named: "keyFrameNeeded")
        push(sender, isKey: true, 3)
        push(sender, isKey: false, 4)
        await recorder.taken(2)
        await sender.shutDown()
        await receiver.shutDown()
        #expect(recorder.marks == [3, 4])
    }

    /// A slow receiver gets the beginning of each group.
    @Test(arguments: 0..<10)
    func slowReceiverGetsNoDependentOfALostUnit(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let network = LoopbackNetwork()
        let got = Mutex<[UInt8]>([])
        let door = Observed(0)
        final class Slow: ChannelReceiver {
            let hear: @Sendable (UInt8) -> Void
            init(_ hear: @escaping @Sendable (UInt8) -> Void) { self.hear = hear }
            func receive(
                _ media: consuming ChannelMedia, _ stream: MediaTrackID, from user: UserID
            ) {
                if case .unit(let unit) = media { hear(unit.bytes[5]) }
            }
        }
        let pause = DispatchSemaphore(value: 0)
        let slow = Slow { number in
            pause.wait()
            got.withLock { $0.append(number) }
            door.change { $0 += 1 }
        }
        let receiver = try await network.enter(
            ChannelRequest(channel: "room", userID: "receiver"), receiver: slow)
        let sender = try await network.enter(
            ChannelRequest(channel: "room", userID: "sender"), receiver: Slow { _ in })
        sender.publish(.main)
        for number in 0..<200 {
            var unit = VideoCodec.h264.unit(isKey: number % 10 == 0)
            unit.bytes.insert(UInt8(number), at: 5)
            #expect(sender.send(unit, track: .main) == .accepted)
            if Int.random(in: 0..<3, using: &generator) == 0 { pause.signal() }
        }
        for _ in 0..<200 { pause.signal() }
        let frames = sender.statistics.outgoing
        await door.wait {
            $0 >= frames.offered - frames.dropped[.evicted] - frames.dropped[.needsKeyFrame]
        }
        await receiver.leave()
        await sender.leave()
        let shown = got.withLock { $0.map(Int.init) }
        for group in Set(shown.map { $0 / 10 }) {
            let members = shown.filter { $0 / 10 == group }
            #expect(
                members == Array((group * 10)..<(group * 10 + members.count)),
                "seed \(seed): \(shown)")
        }
        #expect(
            shown.count + frames.dropped[.evicted] + frames.dropped[.needsKeyFrame] == 200,
            "seed \(seed)")
    }
}
