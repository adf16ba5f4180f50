import BridgeEngine
import MediaBridgeAgora
import MediaCore
import TestSupport
import Testing

/// Encoded units that refer to a refused unit: their decoded pictures would be wrong.
@Suite(.hangGuard)
struct KeyFrameTests {
    let backend = TestBackend()
    let sink = SinkScript()

    private func running() async throws -> MediaEngine {
        let engine = makeEngine(backend)
        try await engine.setExternalVideoSource(.encoded)
        var options = SinkOptions()
        options.whenFull = .wait
        try await engine.setLocalVideoRenderer(ScriptedSink(sink), options: options)
        try await engine.startPreview()
        return engine
    }

    private func push(
        _ engine: MediaEngine, isKey: Bool, _ mark: UInt8 = 1
    ) -> FrameDisposition {
        // A pushed frame gets the current time as its timestamp.
        engine.time.advance(by: .milliseconds(1))
        return engine.pushExternalEncodedVideoFrame(
            VideoCodec.h264.unit(isKey: isKey, mark: mark))
    }

    @Test func streamBeginsWithAKeyframe() async throws {
        let engine = try await running()
        let events = engine.events
        #expect(push(engine, isKey: false) == .dropped(.needsKeyFrame))
        #expect(push(engine, isKey: false) == .dropped(.needsKeyFrame))
        #expect(push(engine, isKey: true) == .accepted)
        await sink.rendered(1)
        await engine.shutDown()
        #expect(await engine.statistics.local[.main]?.dropped[.needsKeyFrame] == 2)
        #expect(await events.rest().count("keyFrameNeeded") == 1)
    }

    @Test func parameterSetsPassBeforeTheKeyframe() async throws {
        let engine = try await running()
        let parameters = EncodedVideoFrame(
            .h264, bytes: [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 1], runningTime: nil)
        #expect(engine.pushExternalEncodedVideoFrame(parameters) == .accepted)
        #expect(push(engine, isKey: false) == .dropped(.needsKeyFrame))
        #expect(push(engine, isKey: true) == .accepted)
        await engine.shutDown()
    }

    @Test(arguments: [255, 254] as [UInt8])
    func dependentsOfARefusedUnitAreRefusedAndCounted(_ mark: UInt8) async throws {
        let engine = try await running()
        let events = engine.events
        for isKey in [true, false] { _ = push(engine, isKey: isKey) }
        await sink.rendered(2)
        _ = push(engine, isKey: false, mark)
        for _ in 0..<5 { _ = push(engine, isKey: false, 2) }
        await events.first(named: "keyFrameNeeded")
        _ = push(engine, isKey: true, 3)
        _ = push(engine, isKey: false, 3)
        await sink.rendered(4)
        let marks = sink.frames.map { $0.metadata["unit"]?.last }
        #expect(marks == ["1", "1", "3", "3"])
        await engine.shutDown()
        let dropped = await engine.statistics.local[.main]?.decoding.dropped
        #expect(dropped?[.needsKeyFrame] == 5)
        #expect(dropped?[mark == 255 ? .undecodable : .queueFull] == 1)
        #expect(await events.rest().count("keyFrameNeeded") == 0)
    }

    /// A burst into a slow decoder: no rendered frame depends on a lost unit.
    @Test(arguments: 0..<20)
    func dependentsOfALostUnitAreNotShown(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let engine = try await running()
        let events = engine.events
        let gate = backend.decoders.block()
        // Groups of ten: byte 5 of a unit is its number, which determines its group.
        var groups: [(isKey: Bool, disposition: FrameDisposition)] = []
        for number in 0..<200 {
            let isKey = number % 10 == 0
            let isBad = Int.random(in: 0..<40, using: &generator) == 0
            var unit = VideoCodec.h264.unit(isKey: isKey, mark: isBad ? 255 : 1)
            unit.bytes.insert(UInt8(number), at: 5)
            if Int.random(in: 0..<60, using: &generator) == 0 { gate.signal() }
            engine.time.advance(by: .milliseconds(1))
            groups.append((isKey, engine.pushExternalEncodedVideoFrame(unit)))
        }
        gate.signal()
        let accepted = groups.count { $0.disposition.isAccepted }
        try await engine.stopPreview()
        let shown = sink.frames.compactMap { frame in
            frame.metadata["unit"]?.split(separator: " ").dropFirst(5).first.flatMap { Int($0) }
        }
        await engine.shutDown()
        let track = try #require(await engine.statistics.local[.main])
        let decoding = track.decoding
        // The rendered frames of each group are the beginning of the group.
        for group in Set(shown.map { $0 / 10 }) {
            let members = shown.filter { $0 / 10 == group }
            #expect(
                members == Array((group * 10)..<(group * 10 + members.count)),
                "seed \(seed): \(shown)")
        }
        #expect(track.delivered == 200 && decoding.offered == 200, "seed \(seed): \(decoding)")
        #expect(shown.count <= decoding.delivered, "seed \(seed)")
        #expect(accepted >= decoding.delivered, "seed \(seed)")
        let requested = await events.rest().count("keyFrameNeeded")
        #expect((requested > 0) == (decoding.dropped[.needsKeyFrame] > 0), "seed \(seed)")
    }

    @Test func keyframesAreRecognizedByTheirHeaders() {
        func isKey(_ codec: VideoCodec, _ bytes: [UInt8]) -> Bool {
            EncodedVideoFrame(codec, bytes: bytes, runningTime: nil).isKeyFrame
        }
        let start: [UInt8] = [0, 0, 1]
        #expect(isKey(.h264, start + [0x65, 9]))
        #expect(!isKey(.h264, start + [0x41, 9]))
        #expect(isKey(.h264, start + [0x67, 1] + start + [0x68, 1] + start + [0x41, 9]))
        #expect(isKey(.h264, start + [0x09, 0x10] + start + [0x06, 6, 1] + start + [0x41, 9]))
        #expect(!isKey(.h264, start + [0x06, 5, 1] + start + [0x41, 9]))
        #expect(!isKey(.h264, start + [0x67, 1]))
        #expect(!isKey(.h264, []) && !isKey(.h264, [0, 0, 1]) && !isKey(.vp8, []))
        #expect(isKey(.vp8, [0x10]) && !isKey(.vp8, [0x11]))
        #expect(isKey(.mjpeg, [0xff, 0xd8]))
    }
}
